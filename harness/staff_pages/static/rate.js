// Keys for raters: a digit judges, letters name reasons, Enter stores. The page works without it.
"use strict";

const form = document.querySelector("[data-rate]");

if (form) {
  const reasons = [...form.querySelectorAll("[data-for]")];
  const fit = () => {
    const verdict = form.querySelector("[name=verdict]:checked");
    for (const reason of reasons) {
      const fits = !verdict || reason.dataset.for.split(" ").includes(verdict.value);
      reason.hidden = !fits;
      if (!fits) reason.querySelector("input").checked = false;
    }
  };
  form.addEventListener("change", fit);
  fit();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const typing = event.target.matches("input:not([type=radio]):not([type=checkbox]), textarea, select");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;  // Enter sends the form by itself
  }
  // On a link or a button Enter is its own key.
  if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
  const wanted = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const found = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === wanted && !each.closest("[hidden]"));
  if (!found) return;
  event.preventDefault();
  if (found.name === "comment") found.focus();
  else found.click();
});
