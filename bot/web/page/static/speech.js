"use strict";
// Reading answers aloud and dictating, only where the browser can and may: by voices of this device; by speech
// recognition on this device, or by the browser's vendor where the site allows it and the patient has been told.
const synthesis = window.speechSynthesis;
const Recognition = window.SpeechRecognition || window.webkitSpeechRecognition;
const MOST_CHARACTERS = 1000;
let reading = null; // the button of the answer that is being read
let listening = null; // the recognition under way
let recognised = null; // how, by the tag of a language: { tag, local }; null where it cannot be
let isTold = false;

function voiceFor(language) {
  const own = synthesis.getVoices().filter((voice) => voice.localService);
  return own.find((voice) => voice.lang.toLowerCase().split(/[-_]/)[0] === language.split("-")[0]);
}

function addVoices() {
  const log = document.getElementById("log");
  if (!log || !synthesis) return;
  for (const answer of log.querySelectorAll(".answer:not(.voiced)")) {
    if (!voiceFor(answer.closest("[lang]").lang)) continue;
    const button = document.createElement("button");
    answer.classList.add("voiced");
    button.type = "button";
    button.className = "plain voice";
    button.textContent = log.dataset.read;
    button.addEventListener("click", () => { read(answer, button, log.dataset); });
    answer.append(button);
  }
}

function read(answer, button, labels) {
  const stops = button === reading;
  synthesis.cancel();
  if (reading) reading.textContent = labels.read;
  reading = stops ? null : button;
  if (stops) return;
  const texts = [...answer.querySelectorAll(":scope > .text, details[open] > .text")];
  const speech = new SpeechSynthesisUtterance(texts.map((text) => text.textContent).join(" "));
  speech.voice = voiceFor(answer.closest("[lang]").lang);
  speech.lang = speech.voice.lang;
  speech.onend = speech.onerror = () => {
    if (button !== reading) return; // another one is being read by now
    button.textContent = labels.read;
    reading = null;
  };
  button.textContent = labels.stop;
  synthesis.speak(speech);
}

// Return how speech can be recognised in one of the tags of a language; null where it cannot, or may not.
async function recognitionFor(tags, mode) {
  if (!Recognition || mode === "off") return null;
  for (const tag of Recognition.available ? tags : []) {
    const state = await Recognition.available({ langs: [tag], processLocally: true }).catch(() => "unavailable");
    if (state === "available") return { tag, local: true };
  }
  return mode === "vendor" ? { tag: tags[0], local: false } : null;
}

async function addDictation() {
  const form = document.getElementById("say");
  if (!form) return;
  recognised = await recognitionFor(form.dataset.speech.split(" "), form.dataset.dictation);
  if (!recognised || form.querySelector(".dictate") || !form.isConnected) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain dictate";
  button.textContent = form.dataset.dictate;
  button.addEventListener("click", () => { dictate(form, button); });
  form.querySelector("label").after(button);
}

async function dictate(form, button) {
  if (listening) return listening.stop();
  if (!recognised.local && !isTold && !(await told(form))) return;
  const field = form.querySelector("textarea"), failed = document.getElementById("send-failed");
  failed.hidden = true;
  listening = new Recognition();
  listening.lang = recognised.tag;
  if (recognised.local) listening.processLocally = true; // or it fails: nothing leaves the device
  listening.onresult = (event) => {
    const heard = [...event.results].slice(event.resultIndex).map((result) => result[0].transcript.trim()).join(" ");
    field.value = `${field.value} ${heard}`.trim().slice(0, MOST_CHARACTERS);
  };
  listening.onerror = (event) => {
    if (event.error === "aborted") return;
    failed.textContent = form.dataset.dictateFailed;
    failed.hidden = false;
  };
  listening.onend = () => {
    listening = null;
    button.textContent = form.dataset.dictate;
    if (button.isConnected) field.focus();
  };
  button.textContent = form.dataset.dictateStop;
  try {
    listening.start();
  } catch {
    listening.onerror({ error: "not-allowed" });
    listening.onend();
  }
}

// Say before the first use who gets to hear the patient; what is dictated then goes to the browser's vendor.
function told(form) {
  const dialog = document.createElement("dialog"), text = document.createElement("p"), row = document.createElement("p");
  text.id = "dictate-notice";
  text.textContent = form.dataset.dictateNotice;
  dialog.setAttribute("aria-labelledby", text.id);
  row.className = "pair";
  for (const [name, value] of [["dictateAgree", "yes"], ["dictateRefuse", "no"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = form.dataset[name];
    if (value === "yes") button.className = "primary";
    button.addEventListener("click", () => { dialog.close(value); });
    row.append(button);
  }
  dialog.append(text, row);
  document.getElementById("main").append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      isTold = dialog.returnValue === "yes";
      dialog.remove();
      resolve(isTold);
    });
  });
}

function addSpeech() {
  addVoices();
  addDictation();
}

if (synthesis) synthesis.addEventListener("voiceschanged", addVoices); // browsers look for them when they are asked
document.addEventListener("klartext:shown", addSpeech);
addSpeech();
