// Old addresses of the reference, the language of samples, their copies, and results while typing.

const LANGUAGE = "allclear-docs-language";
/** Time without typing after which a search begins. */
const TYPED_MS = 250;

// Operations and objects were once all on one page.
const id = location.hash.slice(1);
const moved = document.querySelector(`[data-moved] [id="${CSS.escape(id)}"] a`);
const object = CSS.escape(id.replace(/^schema-/, ""));
const home = document.querySelector(`[data-objects~="${object}"] h2 a`);
if (moved) location.replace(moved.href);
else if (home) location.replace(home.href + location.hash);

/** Returns the remembered language; undefined without local storage. */
function remembered() {
  try {
    return localStorage.getItem(LANGUAGE) ?? undefined;
  } catch {
    return undefined;
  }
}

for (const input of document.querySelectorAll("[name=language]")) {
  if (input.value === remembered()) input.checked = true;
  input.addEventListener("change", () => {
    try {
      localStorage.setItem(LANGUAGE, input.value);
    } catch {
      // The choice then holds for this page.
    }
  });
}

for (const samples of document.querySelectorAll(".samples")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const shown = [...samples.querySelectorAll("code")].find((code) => code.checkVisibility());
    try {
      await navigator.clipboard.writeText(shown.textContent);
    } catch {
      // Pages over http:// have no clipboard, but can copy the selection.
      getSelection().selectAllChildren(shown);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2_000);
  });
  samples.append(button);
}

const form = document.querySelector("[role=search]");
const panel = form.querySelector("[data-found]");
let typing;
/** Aborts the search for an earlier text. */
let searching;

function close() {
  clearTimeout(typing);
  searching?.abort();
  panel.hidden = true;
}

async function search() {
  const query = form.q.value.trim();
  if (query.length < 2) {
    close();
    return;
  }
  searching?.abort();
  searching = new AbortController();
  try {
    const url = `${form.action}?q=${encodeURIComponent(query)}`;
    const answer = await fetch(url, { signal: searching.signal });
    if (!answer.ok) return;
    // The policy of this page holds for the parsed one, and would report its style sheet.
    const html = (await answer.text()).replace(/<style>[^<]*<\/style>/, "");
    const found = new DOMParser().parseFromString(html, "text/html");
    const results = found.querySelector("[data-results]");
    const place = document.querySelector("main [data-results]");
    form.querySelector("[role=status]").textContent = results.firstElementChild.textContent;
    if (place) {
      place.replaceWith(results);
      history.replaceState(null, "", url);
    } else {
      panel.replaceChildren(results);
      panel.hidden = false;
    }
  } catch {
    // Return sends the form.
  }
}

form.q.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(search, TYPED_MS);
});
form.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") close();
});
form.addEventListener("focusout", ({ relatedTarget }) => {
  // Safari focuses no link that is clicked.
  if (relatedTarget && !form.contains(relatedTarget)) close();
});
document.addEventListener("click", ({ target }) => {
  if (!form.contains(target) || target.closest("a")) close();
});
