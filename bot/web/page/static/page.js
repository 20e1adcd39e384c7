"use strict";
// The page works without this. With it, messages are sent without a reload, answers are read aloud, and pages printed.
const talk = document.getElementById("log");

async function send(form, submitter) {
  const failed = () => document.getElementById("send-failed");
  const body = new URLSearchParams(new FormData(form, submitter));
  document.querySelectorAll("#now button, #call-staff button").forEach((button) => { button.disabled = true; });
  talk.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch("/chat", { method: "POST", body, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok || !page.getElementById("log")) throw new Error("not taken");
    show(page);
  } catch {
    document.querySelectorAll("#now button, #call-staff button").forEach((button) => { button.disabled = false; });
    failed().textContent = failed().dataset.text;
    failed().hidden = false;
    failed().scrollIntoView({ block: "center" });
  }
  talk.removeAttribute("aria-busy");
}

function show(page) {
  document.querySelectorAll("#newest").forEach((old) => { old.removeAttribute("id"); });
  for (const turn of page.querySelectorAll("#log > li")) {
    const known = document.getElementById(turn.id);
    if (!known) talk.append(document.adoptNode(turn));
  }
  for (const id of ["now", "call-staff"]) {
    const renewed = page.getElementById(id);
    if (renewed) document.getElementById(id).replaceWith(document.adoptNode(renewed));
  }
  // Related questions of earlier answers need the number of the next turn too.
  const next = document.querySelector("#say input[name=turn]").value;
  document.querySelectorAll("#log form.related input[name=turn]").forEach((field) => { field.value = next; });
  document.title = page.title;
  addVoices();
  const newest = talk.lastElementChild;
  newest.scrollIntoView({ block: "start" });
  (document.getElementById("newest") || newest).focus({ preventScroll: true });
}

function addVoices() {
  if (!("speechSynthesis" in window)) return;
  for (const answer of document.querySelectorAll(".answer:not(.voiced)")) {
    const words = talk ? talk.dataset : {};
    const button = document.createElement("button");
    answer.classList.add("voiced");
    button.type = "button";
    button.className = "plain voice";
    button.textContent = words.read;
    button.addEventListener("click", () => {
      const speaking = speechSynthesis.speaking;
      speechSynthesis.cancel();
      if (speaking && button.textContent === words.stop) return;
      const text = [...answer.querySelectorAll(":scope > .text, details[open] > .text")];
      const voice = new SpeechSynthesisUtterance(text.map((part) => part.textContent).join(" "));
      voice.lang = answer.closest("[lang]").lang;
      voice.onend = voice.onerror = () => { button.textContent = words.read; };
      button.textContent = words.stop;
      speechSynthesis.speak(voice);
    });
    answer.append(button);
  }
}

if (talk) {
  document.addEventListener("submit", (event) => {
    if (event.target.getAttribute("action") !== "/chat") return;
    event.preventDefault();
    send(event.target, event.submitter);
  });
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (field.id !== "text" || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (field.value.trim()) field.form.requestSubmit(field.form.querySelector("button"));
  });
  addVoices();
  const newest = document.getElementById("newest");
  if (newest && location.hash === "#newest") newest.focus({ preventScroll: true });
}
const print = document.getElementById("print");
if (print) {
  print.hidden = false;
  document.getElementById("print-hint").hidden = true;
  print.addEventListener("click", () => { window.print(); });
}
