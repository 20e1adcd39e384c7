// The inbox by keyboard: j and k go, x chooses, o opens, a letter decides. The pages work without it.
"use strict";
const entries = [...document.querySelectorAll(".entry")];
let current = -1;

const go = (number) => {
  if (!entries.length) return;
  if (entries[current]) entries[current].classList.remove("current");
  current = Math.min(Math.max(number, 0), entries.length - 1);
  entries[current].classList.add("current");
  const place = entries[current].querySelector("input, a");
  place.focus();
  entries[current].scrollIntoView({ block: "nearest" });
};

const chosen = () => document.querySelector(".entry input:checked");

document.addEventListener("keydown", (event) => {
  if (event.target.id === "note" && event.key === "Enter") {
    document.querySelector('button[name=do][value="staff"]').click();
    event.preventDefault();
    return;
  }
  const typing = event.target.matches("textarea, select, input:not([type=checkbox]):not([type=radio])");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key === "j") go(current + 1);
  else if (key === "k") go(current - 1);
  else if (key === "x" && entries[current]) {
    const box = entries[current].querySelector("input[type=checkbox]");
    if (!box.disabled) box.checked = !box.checked;
  } else if (key === "o" && entries[current]) {
    const link = entries[current].querySelector("a");
    if (link) link.click();
  } else {
    const found = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!found) return;
    if (found.matches("input")) found.focus();
    else {
      // Nothing chosen: what the keyboard is at is meant.
      const box = entries[current] && entries[current].querySelector("input[type=checkbox]");
      if (found.name === "do" && !chosen() && box && !box.disabled) box.checked = true;
      // A colleague who is asked wants to know what: Enter in the note sends it, with words or without.
      if (found.value === "staff") document.getElementById("note").focus();
      else found.click();
    }
  }
  event.preventDefault();
});
