// Klartext on another site: a button, and the page in a frame. The site loads it with one tag:
//   <script src="https://chat.example.org/embed.js" async data-language="de" data-label="…" data-open></script>
// Nothing of the site is read or sent; what is said stays in the frame, which has the address of the service.
(function (labels, sites) {
  "use strict";
  const script = document.currentScript;
  const origin = new URL(script.src).origin;

  // As browsers read the policy of our page: a button that opens an empty frame helps nobody.
  function mayShow(site) {
    const [, scheme, any, host, port] = /^(https?):\/\/(\*\.)?([^:]+)(?::(\d+))?$/.exec(site.toLowerCase());
    return (any ? location.hostname.endsWith(`.${host}`) : location.hostname === host)
      && (location.protocol === `${scheme}:` || (scheme === "http" && location.protocol === "https:"))
      && new URL(`${location.protocol}//${host}:${port || ""}`).port === location.port;
  }
  if (!sites.some(mayShow)) {
    console.error(`Klartext: ${location.origin} is not among the sites that may show ${origin} (KLARTEXT_FRAME_ANCESTORS).`);
    return;
  }

  const asked = script.dataset.language || document.documentElement.lang.slice(0, 2);
  const language = labels[asked] ? asked : Object.keys(labels)[0];
  const t = labels[language];
  const phone = matchMedia("(max-width: 40rem), (max-height: 32rem)");
  const COLOUR = "#0b5f6b";
  let frame = null;
  let inert = []; // what the full screen of a phone covers

  function make(name, style, attributes) {
    const element = document.createElement(name);
    Object.assign(element.style, style); // not an attribute: the site's own policy may forbid those
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  const font = { font: "600 16px/1.3 system-ui, sans-serif", cursor: "pointer", minHeight: "44px", boxSizing: "border-box" };
  const corner = { position: "fixed", right: "16px", bottom: "16px", zIndex: "2147483000" };
  const round = { border: "2px solid #fff", borderRadius: "24px", background: COLOUR, color: "#fff", padding: "8px 20px" };
  const button = make("button", { ...font, ...corner, ...round, boxShadow: "0 2px 8px rgb(0 0 0 / 40%)" }, { type: "button", "aria-haspopup": "dialog", "aria-expanded": "false" });
  button.textContent = script.dataset.label || t.embed_open;

  const box = make("div", { ...corner, display: "none", flexDirection: "column", background: "#fff", color: "#1d2b30", overflow: "hidden", boxShadow: "0 4px 24px rgb(0 0 0 / 40%)" }, { role: "dialog", "aria-label": t.embed_title, lang: language });
  const bar = make("div", { display: "flex", justifyContent: "space-between", alignItems: "center", background: COLOUR, flex: "none" }, {});
  const plain = { ...font, border: "0", background: "transparent", color: "#fff", padding: "8px 16px", textDecoration: "underline", display: "inline-flex", alignItems: "center" };
  const away = make("a", plain, { href: `${origin}/`, target: "_blank", rel: "noopener" });
  const close = make("button", plain, { type: "button" });
  away.textContent = t.embed_window;
  close.textContent = t.embed_close;
  bar.append(away, close);
  box.append(bar);

  function isOpen() { return box.style.display !== "none"; }

  function fit() {
    const full = phone.matches;
    Object.assign(box.style, full
      ? { inset: "0", width: "100%", height: "100%", borderRadius: "0" }
      : { inset: "auto 16px 16px auto", width: "min(420px, calc(100vw - 32px))", height: "min(720px, calc(100vh - 32px))", borderRadius: "12px" });
    box.setAttribute("aria-modal", String(full));
    for (const element of inert) element.inert = false;
    inert = full && isOpen() ? [...document.body.children].filter((each) => each !== box && !each.inert) : [];
    for (const element of inert) element.inert = true;
  }

  function open(moveFocus) {
    if (!frame) {
      frame = make("iframe", { border: "0", width: "100%", flex: "1" }, {
        src: `${origin}/?language=${language}`, title: t.embed_title, allow: "microphone; on-device-speech-recognition",
      });
      box.append(frame);
    }
    box.style.display = "flex";
    button.style.display = "none";
    button.setAttribute("aria-expanded", "true");
    fit();
    if (moveFocus) frame.focus();
  }

  function hide() {
    if (!isOpen()) return;
    box.style.display = "none"; // the conversation stays as it is
    button.style.display = "";
    button.setAttribute("aria-expanded", "false");
    fit();
    button.focus();
  }

  button.addEventListener("click", () => { open(true); });
  close.addEventListener("click", hide);
  phone.addEventListener("change", fit);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("message", (event) => { // Esc was pressed within the frame
    if (frame && event.source === frame.contentWindow && event.origin === origin && event.data === "klartext:close") hide();
  });

  function start() {
    document.body.append(button, box);
    if ("open" in script.dataset && script.dataset.open !== "false") open(false);
  }
  if (document.body) start();
  else addEventListener("DOMContentLoaded", start);
})
