// What all pages of the console share. Every page works without it.
"use strict";

// A job's page follows the job, and turns to its result.
const job = document.querySelector("[data-job]");
if (job && ["queued", "running"].includes(job.dataset.state)) {
  const bar = job.querySelector("progress");
  const look = async () => {
    const answer = await fetch(job.dataset.job, { headers: { Accept: "application/json" } }).catch(() => null);
    if (answer && answer.ok) {
      const said = await answer.json();
      bar.value = said.share;
      const told = job.querySelector(".job-told");
      if (told) told.textContent = said.told;
      if (!["queued", "running"].includes(said.state) || (said.told && !told)) { location.reload(); return; }
    }
    setTimeout(look, 1000);
  };
  setTimeout(look, 1000);
}

// What must not be clicked by mistake asks once more.
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => { if (!confirm(form.dataset.confirm)) event.preventDefault(); });
}

// Whoever has typed is warned before leaving.
for (const form of document.querySelectorAll("form[data-unsaved]")) {
  let typed = false;
  form.addEventListener("input", () => { typed = true; });
  form.addEventListener("submit", () => { typed = false; });
  addEventListener("beforeunload", (event) => { if (typed) event.preventDefault(); });
}
