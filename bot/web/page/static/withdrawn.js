"use strict";
// An answer may be withdrawn while it stands on an open page. The page asks the server before it opens a folded part of
// an answer and whenever the patient comes back to it (handoff.js asks too, while a call for staff is open), and puts
// the sentence that says so in the place of what is shown no more. Without this, a reload does.

function replaceWithdrawn(page) {
  for (const fresh of page.querySelectorAll("#log > .turn[data-withdrawn]")) {
    const old = document.getElementById(fresh.id);
    if (!old || "withdrawn" in old.dataset) continue;
    const focused = old.contains(document.activeElement);
    if (reading && old.contains(reading)) reading.click(); // speech.js: nobody goes on hearing it
    old.replaceWith(document.adoptNode(fresh));
    if (!focused) continue;
    const reply = fresh.querySelector(".reply");
    reply.tabIndex = -1;
    reply.focus({ preventScroll: true });
  }
}

// `news`: what the server says of the conversation.
async function takeBack(news) {
  const shown = news.withdrawn.map((number) => document.getElementById(`turn-${number}`));
  const gone = shown.filter((turn) => turn && !("withdrawn" in turn.dataset));
  const bring = !news.bring && document.querySelector("#now .bring");
  if (!gone.length && !bring) return;
  const whole = await ask("/chat");
  const page = new DOMParser().parseFromString(await whole.text(), "text/html");
  if (!whole.ok || !page.getElementById("log")) throw new Error("not fetched");
  const newest = gone.includes([...document.querySelectorAll("#log > .turn:not(.of-staff)")].at(-1));
  replaceWithdrawn(page);
  // While a message is on its way, what can be pressed comes with its reply.
  if ((newest || bring) && log.getAttribute("aria-busy") !== "true") replaceNow(page);
}

async function lookForWithdrawn() {
  const answer = await ask("/news");
  if (!answer.ok) throw new Error("not told");
  await takeBack(await answer.json());
}

async function openPart(part) {
  part.setAttribute("aria-busy", "true");
  try {
    await lookForWithdrawn();
    part.open = true; // of one that was replaced nobody sees it
  } catch {
    failed(document.getElementById("send-failed").dataset.unasked); // what cannot be asked for stays folded
  }
  part.removeAttribute("aria-busy");
}

if (log) {
  document.addEventListener("click", (event) => {
    if (event.target.closest(".voice")) lookForWithdrawn().catch(() => {}); // what is read aloud, too
    const part = event.target.closest(".answer summary")?.parentElement;
    if (!part || part.open) return;
    event.preventDefault();
    if (part.getAttribute("aria-busy") !== "true") openPart(part);
  });
  // Left alone where it fails: whatever is pressed next asks again.
  document.addEventListener("visibilitychange", () => { if (!document.hidden) lookForWithdrawn().catch(() => {}); });
  addEventListener("pageshow", (event) => { if (event.persisted) lookForWithdrawn().catch(() => {}); });
}
