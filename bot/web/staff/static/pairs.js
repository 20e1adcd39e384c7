// The editor tells while somebody types what it would tell after saving. Without this file it tells it then.
"use strict";

const pair = document.getElementById("pair");
if (pair && pair.querySelector("button.main")) {
  const collisions = document.getElementById("collisions");
  const paragraph = (kind, parts) => {
    const made = document.createElement("p");
    made.className = kind;
    for (const [tag, text, lang] of parts) {
      const part = document.createElement(tag);
      part.textContent = text;
      if (lang) part.lang = lang;
      made.append(part);
    }
    return made;
  };
  const ask = (address, accept) => fetch(address, {
    method: "POST", body: new URLSearchParams(new FormData(pair)), headers: { Accept: accept },
  }).then((answer) => (answer.ok ? answer : null), () => null);

  const tellNotes = async (mine) => {
    const answer = await ask(pair.dataset.notesAt, "application/json");
    if (!answer || mine !== typed) return;
    const said = await answer.json();
    for (const place of pair.querySelectorAll("[data-notes]")) {
      const note = said[place.dataset.notes];
      place.replaceChildren();
      if (!note) continue;
      if (note.figure) place.append(paragraph(note.good ? "figure" : "figure off", [["span", note.figure]]));
      for (const [word, plain] of note.hard) place.append(paragraph("hard", [["mark", word], ["span", ` → ${plain}`]]));
      for (const item of note.items) {
        place.append(paragraph(`item ${item.kind}`, [["strong", `${item.rule}: `], ["span", item.text]]));
      }
    }
    pair.dataset.told = String(mine);
  };
  const tellCollisions = async (mine) => {
    const answer = await ask(pair.dataset.collisionsAt, "text/html");
    if (answer && mine === typed) collisions.innerHTML = await answer.text(); // every text in it is escaped by the server
  };

  let typed = 0;
  let waits = 0;
  pair.addEventListener("input", () => {
    typed += 1;
    clearTimeout(waits);
    waits = setTimeout((mine) => { tellNotes(mine); tellCollisions(mine); }, 600, typed);
  });
  tellCollisions(typed);
}
