// Arrow keys move in charts. A text below the chart describes the selected day or point and links to its
// incidents. Enter moves to these links. Escape moves back to the day, and removes the text.

/** Days or points under the pointer and with the focus. */
const selected = {};

const chartsOf = (day) => day?.closest(".day-bars, [data-days]");
const noteOf = (day) => chartsOf(day)?.querySelector("[data-day-note]");
const isNote = (element) => element?.closest?.("[data-day-note]");

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const day = target.closest?.("[data-day]");
  if (key === "Escape") {
    if (day) select("focus");
    else if (isNote(target)) selected.focus?.focus();
  }
  if (!day) return;
  if (key === "Enter") select("focus", day);
  const days = [...day.parentElement.querySelectorAll("[data-day]")];
  const index = days.indexOf(day);
  const step = document.dir === "rtl" ? -1 : 1;
  const keys = {
    ArrowLeft: days[index - step],
    ArrowRight: days[index + step],
    Home: days[0],
    End: days.at(-1),
    Enter: noteOf(day)?.querySelector("a"),
  };
  const next = keys[key];
  if (!next) return;
  event.preventDefault();
  next.focus();
  if (key === "Enter") return;
  keepTabStop(days, next);
  select("focus", next);
});

for (const [type, by] of Object.entries({ pointerover: "pointer", focusin: "focus" })) {
  // The text stays while the pointer or the focus is on it.
  document.addEventListener(type, ({ target }) => {
    if (!isNote(target)) select(by, target);
  });
}
for (const [type, by] of Object.entries({ pointerout: "pointer", focusout: "focus" })) {
  document.addEventListener(type, ({ relatedTarget }) => {
    if (!relatedTarget) select(by);
  });
}
// A refresh of the page may have changed or removed days.
document.addEventListener("morphed", () => {
  for (const chart of document.querySelectorAll(".day-chart")) {
    const days = [...chart.querySelectorAll("[data-day]")];
    if (days.filter(({ tabIndex }) => tabIndex === 0).length !== 1) keepTabStop(days);
  }
  for (const note of document.querySelectorAll("[data-day-note][data-usual]")) describe(note);
});

/** Makes one day of a chart reachable by Tab. */
function keepTabStop(days, stop = days.find((day) => day === selected.focus) ?? days.at(-1)) {
  for (const day of days) day.tabIndex = day === stop ? 0 : -1;
}

function select(by, target) {
  const notes = [selected[by]];
  selected[by] = target?.closest?.("[data-day]");
  notes.push(selected[by]);
  for (const note of new Set(notes.map(noteOf))) if (note) describe(note);
}

/** Describes the selected day of a chart, or shows the usual text without one. */
function describe(note) {
  const usual = (note.dataset.usual ??= note.textContent);
  const days = [selected.pointer, selected.focus];
  const day = days.find((one) => one?.isConnected && noteOf(one) === note);
  if (!day) {
    delete note.dataset.usual;
    note.textContent = usual;
    return;
  }
  if (note.contains(document.activeElement)) return;
  const title = day.querySelector("title").textContent;
  const links = linksOf(day, title);
  const content = document.createElement("span");
  content.append(links.length > 0 ? `${title.split(" · ")[0]} · ` : title);
  for (const link of links) content.append(link === links[0] ? "" : ", ", link.cloneNode(true));
  note.replaceChildren(content);
}

/** Returns the links of a day in the table of its chart. */
function linksOf(day, title) {
  const charts = chartsOf(day);
  const index = [...charts.querySelectorAll(".day-chart")].indexOf(day.parentElement);
  const rows = charts.querySelectorAll(".day-table table")[index]?.rows ?? [];
  const row = [...rows].find(({ cells }) => title.startsWith(`${cells[0].textContent}: `));
  return [...(row?.querySelectorAll("a") ?? [])];
}
