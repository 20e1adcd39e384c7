// The live desk looks for itself what is new, and says so: in the title, in the menu, and by a sound that somebody
// switched on. Without this script, reloading shows the same.
"use strict";

const list = document.getElementById("desk-list");
const one = document.getElementById("desk-one");
const told = document.getElementById("desk-told");
const title = document.title.replace(/^\(\d+\) /, "");
const AGAIN_MS = 20000; // an urgent call that nobody has seen rings again
let rang = 0;
let rings = list ? list.dataset.rings : null; // null: not known before the first look

// Sound: made here, so that there is no file to fetch; off until somebody presses the button.
const button = document.getElementById("desk-sound");
let audio = null;
const isOn = () => audio !== null && audio.state === "running";
const showSound = () => {
  button.setAttribute("aria-pressed", String(isOn()));
  button.textContent = isOn() ? button.dataset.on : button.dataset.off;
};
const ring = (tones) => {
  rang = Date.now();
  if (!isOn()) return;
  tones.forEach((pitch, number) => {
    const from = audio.currentTime + number * 0.22;
    const tone = audio.createOscillator();
    const loudness = audio.createGain();
    tone.frequency.value = pitch;
    loudness.gain.setValueAtTime(0.0001, from);
    loudness.gain.exponentialRampToValueAtTime(0.25, from + 0.02);
    loudness.gain.exponentialRampToValueAtTime(0.0001, from + 0.2);
    tone.connect(loudness).connect(audio.destination);
    tone.start(from);
    tone.stop(from + 0.21);
  });
  document.documentElement.dataset.rang = String(Number(document.documentElement.dataset.rang || 0) + 1);
};
const URGENT = [880, 660, 880, 660];
const USUAL = [660, 880];
const switchOn = async () => {
  audio = audio || new AudioContext();
  // Where the browser wants a press on this very page first, it never resolves.
  await Promise.race([audio.resume(), new Promise((done) => setTimeout(done, 300))]);
  showSound();
};
if (button && window.AudioContext) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (isOn()) { await audio.suspend(); sessionStorage.removeItem("desk-sound"); showSound(); return; }
    await switchOn();
    if (isOn()) { sessionStorage.setItem("desk-sound", "on"); ring(USUAL); }
  });
  if (sessionStorage.getItem("desk-sound")) switchOn();
}

const signal = (news) => {
  document.title = (news.waiting ? `(${news.waiting}) ` : "") + title;
  const place = document.querySelector(".menu a[aria-current]");
  let badge = document.querySelector('[data-badge="menu_desk"]');
  if (!badge && news.waiting && place) {
    badge = document.createElement("span");
    badge.className = "badge";
    badge.dataset.badge = "menu_desk";
    place.append(" ", badge);
  }
  if (badge) {
    badge.textContent = news.waiting;
    badge.hidden = !news.waiting;
    badge.classList.toggle("urgent", news.urgent > 0);
  }
  const isNew = rings !== null && news.rings > rings;
  rings = news.rings || rings || "";
  if (isNew) {
    told.textContent = news.urgent ? told.dataset.urgent : told.dataset.one;
    ring(news.urgent ? URGENT : USUAL);
  } else if (news.urgent && Date.now() - rang > AGAIN_MS) {
    ring(URGENT);
  } else if (!news.waiting) {
    told.textContent = "";
  }
};

const nodes = (html) => [...new DOMParser().parseFromString(html, "text/html").body.childNodes];

const showList = (news) => {
  if (list.dataset.shown === news.html) return;
  list.dataset.shown = news.html;
  const held = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  list.replaceChildren(...nodes(news.html));
  if (held) list.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus();
};

const showOne = (news) => {
  const lines = document.getElementById("desk-lines");
  if (news.lines) {
    lines.append(...nodes(news.lines));
    lines.scrollTop = lines.scrollHeight;
  }
  one.dataset.next = news.next;
  if (one.dataset.stand === news.stand) return;
  one.dataset.stand = news.stand;
  const acts = document.getElementById("desk-acts");
  const field = document.getElementById("desk-text") || document.getElementById("desk-kept");
  const typed = field ? field.value : "";
  const wasIn = field !== null && field === document.activeElement;
  acts.replaceChildren(...nodes(news.acts));
  for (const form of acts.querySelectorAll("form[data-confirm]")) {
    form.addEventListener("submit", (event) => { if (!confirm(form.dataset.confirm)) event.preventDefault(); });
  }
  const now = document.getElementById("desk-text");
  if (now) {
    now.value = typed;
    if (wasIn) now.focus();
  } else if (typed) { // what somebody has typed is never lost
    const label = document.createElement("label");
    const kept = document.createElement("textarea");
    label.htmlFor = kept.id = "desk-kept";
    label.textContent = one.dataset.notSent;
    kept.readOnly = true;
    kept.value = typed;
    acts.append(label, kept);
  }
};

const place = list || one;
const look = async () => {
  const address = one ? `${one.dataset.desk}?after=${one.dataset.next}` : list.dataset.desk;
  const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
  if (answer && answer.status === 401) { location.reload(); return; }
  if (answer && answer.status === 410 && one) { location.assign(one.dataset.list); return; }
  if (answer && answer.ok) {
    const news = await answer.json();
    if (told.dataset.isLost) { told.textContent = ""; delete told.dataset.isLost; }
    if (list) showList(news); else showOne(news);
    signal(news);
  } else if (!told.dataset.isLost) {
    told.textContent = told.dataset.lost;
    told.dataset.isLost = "yes";
  }
  setTimeout(look, Number(place.dataset.poll) * 1000);
};
if (place) {
  if (one) document.getElementById("desk-lines").scrollTop = 1e9;
  setTimeout(look, Number(place.dataset.poll) * 1000);
}

// A message is sent once, however often somebody presses.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.closest("#desk-acts") || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
