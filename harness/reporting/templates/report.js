// Numbers lead to their questions: a click shows these and hides the rest. The choice stands in the address, so that "back"
// works and a link can be passed on. Without this script the links lead to the place where the questions stand.
"use strict";
(() => {
  const list = document.getElementById("questions");
  const rows = [...list.querySelectorAll("tr[data-m]")].map((row) => ({
    row, marks: new Set(row.dataset.m.split(" ")), score: Number(row.cells[4].textContent),
  }));
  const bodies = [...list.querySelectorAll("tbody")];
  const status = document.getElementById("status");
  const everything = document.getElementById("everything");
  const all = status.textContent;

  function fits(question, wanted) {
    return wanted.every((mark) =>
      mark.startsWith("s>=") ? question.score >= Number(mark.slice(3)) : mark === "all" || question.marks.has(mark));
  }

  function show(wanted, said) {
    let count = 0;
    for (const question of rows) {
      const fit = fits(question, wanted);
      question.row.hidden = !fit;
      count += fit;
    }
    for (const body of bodies) body.hidden = !body.querySelector("tr[data-m]:not([hidden])");
    everything.hidden = !wanted.length;
    status.textContent = wanted.length ? `${count} of ${rows.length} questions${said ? `: ${said}` : ""}.` : all;
  }

  function words(link) {
    const cell = link.closest("td, th, dd");
    const row = link.closest("tr");
    if (!row) return link.closest("div").querySelector("dt").textContent;
    const column = row.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent;
    const name = row.cells[0].textContent;
    return `${name.trim()}, ${column.trim()}`;
  }

  function follow() {
    const found = /^#show=([^&]*)(?:&said=(.*))?$/.exec(location.hash);
    if (!found) return show([], "");
    show(decodeURIComponent(found[1]).split(" "), decodeURIComponent(found[2] || ""));
    const heading = document.getElementById("questions-title");
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-show]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    location.hash = `show=${encodeURIComponent(link.dataset.show)}&said=${encodeURIComponent(words(link))}`;
  });
  window.addEventListener("hashchange", follow);
  if (location.hash.startsWith("#show=")) follow();
})();
