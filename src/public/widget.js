// Shows the state of a status page on another site.
// Attributes of the script element: data-style="pill|corner|banner", data-show="always|problems",
// data-theme="light|dark".
(() => {
  const state = STATE;
  const script = document.currentScript;
  const {
    style = "pill",
    show = style === "banner" ? "problems" : "always",
    theme,
  } = script.dataset;
  if (show === "problems" && state.isWell) return;
  const isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const [ink, line, card] = isDark
    ? ["#eaf0ed", "#27312c", "#151c19"]
    : ["#101a16", "#e1e7e2", "#ffffff"];

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    a { box-sizing: border-box; display: inline-flex; gap: 8px; align-items: center; max-width: 100%;
      padding: 6px 14px; border: 1px solid ${line}; border-radius: 18px; background: ${card};
      color: ${ink}; font: 500 14px/20px system-ui, sans-serif; text-decoration: none; }
    a:hover { text-decoration: underline; }
    a:focus-visible { outline: 2px solid ${state.fill}; outline-offset: 2px; }
    svg { flex: none; width: 12px; height: 12px; fill: ${state.fill}; }
    .corner { position: fixed; right: 16px; bottom: 16px; z-index: 2147483000;
      max-width: calc(100% - 32px); box-shadow: 0 4px 16px rgb(0 0 0 / 0.16); }
    .banner { display: flex; justify-content: center; border-width: 0 0 3px; border-radius: 0;
      border-color: ${state.fill}; }`);

  const place = document.createElement("div");
  if (state.lang) place.lang = state.lang;
  const root = place.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  const link = document.createElement("a");
  link.className = style;
  link.href = state.url;
  link.target = "_blank";
  link.rel = "noopener";
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("viewBox", "0 0 12 12");
  picture.setAttribute("aria-hidden", "true");
  const outline = document.createElementNS("http://www.w3.org/2000/svg", "path");
  outline.setAttribute("d", state.shape);
  picture.append(outline);
  const text = document.createElement("span");
  text.textContent = `${state.name}: ${state.text}`;
  link.append(picture, text);
  root.append(link);

  if (style === "pill") script.after(place);
  else if (document.body) document.body.prepend(place);
  else addEventListener("DOMContentLoaded", () => document.body.prepend(place));
})();
