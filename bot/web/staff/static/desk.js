// The live desk looks for itself what is new; titles and sounds are those of all pages (bell.js). Without this script,
// reloading shows the same.
"use strict";

const list = document.getElementById("desk-list");
const one = document.getElementById("desk-one");
const place = list || one;
const nodes = (html) => [...new DOMParser().parseFromString(html, "text/html").body.childNodes];

const showList = (news) => {
  if (list.dataset.shown === news.html) return;
  list.dataset.shown = news.html;
  const held = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const open = [...list.querySelectorAll("details[open]")].map((each) => each.closest("li").querySelector("a").href);
  list.replaceChildren(...nodes(news.html));
  for (const link of list.querySelectorAll(".desk-head a")) {
    const details = link.closest("li").querySelector("details");
    if (details && open.includes(link.href)) details.open = true;
  }
  if (held) list.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus();
};

const keep = (typed) => { // what somebody has typed is never lost
  const label = document.createElement("label");
  const kept = document.createElement("textarea");
  label.htmlFor = kept.id = "desk-kept";
  label.textContent = one.dataset.notSent;
  kept.readOnly = true;
  kept.value = typed;
  return [label, kept];
};
const fieldNow = () => document.getElementById("desk-text") || document.getElementById("desk-kept");

const showOne = (news) => {
  const lines = document.getElementById("desk-lines");
  if (news.lines) {
    lines.append(...nodes(news.lines));
    lines.scrollTop = lines.scrollHeight;
  }
  const known = document.getElementById("desk-known");
  if (known.dataset.shown !== news.known) {
    const open = Boolean(known.querySelector("details[open]"));
    known.dataset.shown = news.known;
    known.replaceChildren(...nodes(news.known));
    if (open && known.querySelector("details")) known.querySelector("details").open = true;
  }
  one.dataset.next = news.next;
  if (one.dataset.stand === news.stand) return;
  one.dataset.stand = news.stand;
  const acts = document.getElementById("desk-acts");
  const field = fieldNow();
  const typed = field ? field.value : "";
  const at = field ? [field.selectionStart, field.selectionEnd] : [0, 0];
  const wasIn = field !== null && field === document.activeElement;
  acts.replaceChildren(...nodes(news.acts));
  for (const form of acts.querySelectorAll("form[data-confirm]")) {
    form.addEventListener("submit", (event) => { if (!confirm(form.dataset.confirm)) event.preventDefault(); });
  }
  const now = document.getElementById("desk-text");
  if (now) {
    now.value = typed;
    if (wasIn) {
      now.focus({ preventScroll: true });
      now.setSelectionRange(...at);
    }
  } else if (typed) {
    acts.append(...keep(typed));
  }
};

// The patient has deleted the conversation, or it is over: say so here, and keep what was being written.
const end = (said) => {
  const field = fieldNow();
  const told = document.createElement("p");
  told.className = "flaw";
  told.setAttribute("role", "alert");
  told.textContent = said;
  const back = document.createElement("p");
  const link = document.createElement("a");
  link.href = one.dataset.list;
  link.textContent = document.querySelector(`main > p > a[href="${CSS.escape(one.dataset.list)}"]`).textContent;
  back.append(link);
  document.getElementById("desk-known").replaceChildren();
  document.getElementById("desk-acts").replaceChildren(told, ...(field && field.value ? keep(field.value) : []), back);
};

// Logged out meanwhile: what was being written waits in this tab, for the same person only.
const TYPED = "desk-typed";
const logIn = () => {
  const field = fieldNow();
  const path = location.pathname;
  if (field && field.value) {
    sessionStorage.setItem(TYPED, JSON.stringify({ path, by: one.dataset.by, text: field.value }));
  }
  location.assign(`${place.dataset.login}?why=ended&back=${encodeURIComponent(place.dataset.back)}`);
};
const bringBack = () => {
  const kept = JSON.parse(sessionStorage.getItem(TYPED) || "null");
  sessionStorage.removeItem(TYPED);
  if (!kept || kept.path !== location.pathname || kept.by !== one.dataset.by) return;
  const field = document.getElementById("desk-text");
  if (field && !field.value) field.value = kept.text;
  else document.getElementById("desk-acts").append(...keep(kept.text));
};

const look = async () => {
  const address = one ? `${one.dataset.desk}&after=${one.dataset.next}` : list.dataset.desk;
  const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
  if (answer && answer.status === 401) { logIn(); return; }
  if (answer && answer.status === 410 && one) { end((await answer.json()).error); return; }
  if (answer && answer.ok) {
    const news = await answer.json();
    if (list) showList(news); else showOne(news);
    window.deskSignal(news);
  } else {
    window.deskSignal(null);
  }
  setTimeout(look, Number(place.dataset.poll) * 1000);
};
if (place) {
  if (one) {
    bringBack();
    document.getElementById("desk-lines").scrollTop = 1e9;
    const field = document.getElementById("sure") || document.getElementById("desk-text");
    if (field && location.hash === "#desk-text") field.focus();
    if (field && field.id === "sure") field.scrollIntoView({ block: "center" });
  }
  setTimeout(look, Number(place.dataset.poll) * 1000);
}

// A message is sent once, however often somebody presses.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.closest("#desk-acts") || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
