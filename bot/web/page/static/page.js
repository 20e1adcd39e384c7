"use strict";
// The page works without this. With it, messages are sent without a reload, and pages printed.
const log = document.getElementById("log");
const framed = window.top !== window.self; // on another site

// Every script asks the server by this: it must know which of our cookies counts.
function ask(address, options = {}) {
  return fetch(address, { ...options, headers: framed ? { "Klartext-Framed": "yes" } : {} });
}

function busy(on) {
  const send = document.querySelector("#say button");
  document.querySelectorAll("main button, #call-staff button").forEach((button) => { button.disabled = on; });
  if (on) send.dataset.label = send.textContent;
  send.textContent = on ? send.dataset.sending : send.dataset.label;
  log.setAttribute("aria-busy", String(on));
}

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const sent = form.id === "say" ? document.getElementById("text").value : "";
  document.getElementById("send-failed").hidden = true;
  document.getElementById("alarm")?.remove();
  busy(true);
  const { text, call } = document.getElementById("send-failed").dataset;
  let said = text, alarm = null; // that it did not work, and the words are still in the field
  try {
    const answer = await ask("/chat", { method: "POST", body });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok && page.getElementById("log")) return show(page, sent);
    if (answer.ok) return location.assign(answer.url); // the conversation has ended
    alarm = page.getElementById("alarm");
    // Why it was refused can be mended; that the service is away says no more than is said already.
    if (answer.status < 500 && page.getElementById("why")) said = page.getElementById("why").textContent;
  } catch { // no network: the same holds
  }
  busy(false);
  failed(`${said} ${call}`);
  if (!alarm) return;
  log.append(document.adoptNode(alarm)); // where the reply would stand
  alarm.scrollIntoView({ block: "center" });
}

// What is typed while a message is on its way is kept: all that stands in the box but the message itself.
function typedSince(sent) {
  const value = document.getElementById("text").value;
  return value.startsWith(sent) ? value.slice(sent.length).trimStart() : value;
}

function failed(said) {
  const place = document.getElementById("send-failed");
  place.textContent = said;
  place.hidden = false;
  place.scrollIntoView({ block: "center" });
}

function show(page, sent) {
  const draft = typedSince(sent), typing = draft && document.activeElement.id === "text";
  document.querySelectorAll("#newest").forEach((old) => { old.removeAttribute("id"); });
  document.querySelectorAll("#log .amend").forEach((old) => { old.remove(); }); // it changes what was noted last
  document.querySelectorAll(".panel[role=alert]").forEach((old) => { old.removeAttribute("role"); });
  replaceWithdrawn(page);
  for (const turn of page.querySelectorAll("#log > .turn")) {
    if (!document.getElementById(turn.id)) log.append(document.adoptNode(turn));
  }
  for (const id of ["now", "call-staff", "handoff"]) {
    document.getElementById(id).replaceWith(document.adoptNode(page.getElementById(id)));
  }
  // Related questions of earlier answers begin the next turn too.
  const next = document.querySelector("#say input[name=turn]").value;
  document.querySelectorAll("#log form.related input[name=turn]").forEach((field) => { field.value = next; });
  document.querySelectorAll("#log button").forEach((button) => { button.disabled = false; });
  log.setAttribute("aria-busy", "false");
  const text = document.getElementById("text");
  text.value = draft;
  document.title = page.title;
  document.dispatchEvent(new Event("klartext:shown")); // speech.js listens
  // What was said gets the focus; the log, which is live, tells the reply.
  const said = log.lastElementChild.querySelector(".said, .reply");
  said.tabIndex = -1;
  (typing ? text : said).focus({ preventScroll: true }); // nobody's next letters are to go astray
  if (typing) text.setSelectionRange(draft.length, draft.length);
  toNewest();
}

// What can be pressed changes when staff come or go, and when answers are taken back; what is being written stays.
function replaceNow(page) {
  const before = document.getElementById("text"), fresh = page.getElementById("now");
  const writing = document.activeElement === before, draft = before.value;
  const [from, to] = [before.selectionStart, before.selectionEnd];
  document.getElementById("now").replaceWith(document.adoptNode(fresh));
  document.getElementById("call-staff").replaceWith(document.adoptNode(page.getElementById("call-staff")));
  document.querySelector(".not-watched").hidden = page.querySelector(".not-watched").hidden;
  const field = document.getElementById("text");
  field.value = draft;
  if (writing) {
    field.focus({ preventScroll: true });
    field.setSelectionRange(from, to);
  }
}

// What the patient said last stands at the top, below the emergency bar, with the reply. Of a message that would fill
// the screen the last lines do: the reply must not be below its edge.
function toNewest() {
  const turn = log.lastElementChild, said = turn.querySelector(".said");
  if (!said) return; // the greeting: the page opens at its top
  const bar = document.querySelector(".emergency").offsetHeight;
  const free = innerHeight - bar - document.getElementById("say").offsetHeight;
  const top = Math.max(said.getBoundingClientRect().top, turn.querySelector(".reply").getBoundingClientRect().top - free / 2);
  scrollTo({ top: scrollY + top - bar - 4, behavior: "instant" });
}

if (log) {
  document.addEventListener("submit", (event) => {
    if (event.target.id === "upload") event.submitter.textContent = event.submitter.dataset.sending;
    if (event.target.getAttribute("action") !== "/chat") return;
    event.preventDefault();
    if (log.getAttribute("aria-busy") === "true") return; // one at a time: what was typed stays in the box
    send(event.target, event.submitter);
  });
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (field.id !== "file") return;
    const chosen = field.files[0];
    field.setCustomValidity(chosen && chosen.size > Number(field.dataset.most) ? field.dataset.tooLarge : "");
    field.reportValidity();
  });
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (field.id !== "text" || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (field.value.trim()) field.form.requestSubmit();
  });
  history.scrollRestoration = "manual";
  if (!location.hash || location.hash === "#newest") toNewest();
}

if (framed) {
  document.addEventListener("keydown", (event) => { // embed.js closes the frame; it cannot hear keys in here
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) parent.postMessage("klartext:close", "*");
  });
}

const print = document.getElementById("print");
if (print) {
  print.hidden = false;
  document.getElementById("print-hint").hidden = true;
  print.addEventListener("click", () => { window.print(); });
}
