"use strict";
// Without this, patients see what staff write when they reload the page. With it, while a call for staff is open, the
// page asks every few seconds whether there is something new, and fetches it.
const EVERY_MS = 4000;

async function lookForStaff() {
  const place = document.getElementById("handoff");
  if (!place || !("open" in place.dataset) || document.querySelector("#log[aria-busy=true]")) return;
  try {
    const answer = await ask("/news");
    if (!answer.ok) return;
    const news = await answer.json();
    await takeBack(news);
    const known = place.dataset;
    if (String(news.latest) === known.latest && news.state === known.state && news.status === known.status) return;
    const whole = await ask("/chat");
    const page = new DOMParser().parseFromString(await whole.text(), "text/html");
    if (whole.ok && page.getElementById("handoff")) showStaff(page);
  } catch {
    // Tried again the next time.
  }
}

function showStaff(page) {
  const place = document.getElementById("handoff"), fresh = page.getElementById("handoff");
  const log = document.getElementById("log");
  let added = null;
  for (const line of page.querySelectorAll("#log > .of-staff")) {
    if (!document.getElementById(line.id)) added = log.appendChild(document.adoptNode(line));
  }
  if (fresh.dataset.state !== place.dataset.state) replaceNow(page);
  place.replaceWith(document.adoptNode(fresh));
  if (added) added.scrollIntoView({ block: "nearest" });
}

document.documentElement.classList.add("asks-for-news");
setInterval(lookForStaff, EVERY_MS);
