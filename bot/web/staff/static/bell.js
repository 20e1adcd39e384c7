// Whoever sees to patients' calls hears of new ones on every page of the console: in the title, in the menu, and by a
// sound that they switched on. Without this script, reloading shows the same.
"use strict";
{
const bell = document.getElementById("bell");
const told = document.getElementById("desk-told");
const lost = document.getElementById("desk-lost");
const button = document.getElementById("desk-sound");
const title = document.title.replace(/^\(\d+\) /, "");
const AGAIN_MS = 20000; // an urgent call that nobody has seen rings again
const RINGS = "desk-rings", SOUND = "desk-sound"; // in this tab: a call that came between two pages rings, too
let rang = 0;
let audio = null;

// Sound: made here, so that there is no file to fetch; off until somebody presses the button.
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
if (bell && window.AudioContext) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (isOn()) { await audio.suspend(); sessionStorage.removeItem(SOUND); showSound(); return; }
    await switchOn();
    if (isOn()) { sessionStorage.setItem(SOUND, "on"); ring(USUAL); }
  });
  if (sessionStorage.getItem(SOUND)) switchOn();
}

const showBadges = (news) => {
  const place = document.querySelector('.menu a[href$="/desk"]');
  if (news.waiting && place && !place.querySelector(".badge")) {
    const made = document.createElement("span");
    made.className = "badge";
    made.dataset.badge = "menu_desk";
    place.append(" ", made);
  }
  for (const badge of document.querySelectorAll('[data-badge="menu_desk"]')) {
    badge.textContent = news.waiting;
    badge.hidden = !news.waiting;
    badge.classList.toggle("urgent", news.urgent > 0);
  }
};

// `news`: how many wait, how many of them are urgent, and when the last came; null: nobody could be asked.
const signal = (news) => {
  lost.hidden = news !== null;
  if (news === null) return;
  document.title = (news.waiting ? `(${news.waiting}) ` : "") + title;
  showBadges(news);
  const known = sessionStorage.getItem(RINGS);
  const isNew = known !== null && news.rings > known;
  sessionStorage.setItem(RINGS, news.rings || known || "");
  if (isNew) {
    told.textContent = news.urgent ? told.dataset.urgent : told.dataset.one;
    ring(news.urgent ? URGENT : USUAL);
  } else if (news.urgent && Date.now() - rang > AGAIN_MS) {
    ring(URGENT);
  } else if (!news.waiting) {
    told.textContent = "";
  }
};
window.deskSignal = bell ? signal : () => {};

// The desk's own pages ask for more than this, and pass it on.
if (bell && !document.getElementById("desk-list") && !document.getElementById("desk-one")) {
  const look = async () => {
    const answer = await fetch(bell.dataset.at, { headers: { Accept: "application/json" } }).catch(() => null);
    signal(answer && answer.ok ? await answer.json() : null);
    if (!answer || answer.status !== 401) setTimeout(look, Number(bell.dataset.poll) * 1000);
  };
  look();
}
}
