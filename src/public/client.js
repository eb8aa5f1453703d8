// Adds local times and keyboard navigation to a status page, which is complete without it.
const { locale } = document.currentScript.dataset;
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Shows times in the reader's time zone. The original text becomes the tooltip.
const format = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
});
const { timeZone } = format.resolvedOptions();
for (const time of all("time[data-clock]")) {
  const from = new Date(time.dateTime);
  time.title = time.textContent;
  time.textContent = time.dataset.until
    ? format.formatRange(from, new Date(time.dataset.until))
    : format.format(from);
}
for (const zones of all("[data-zones]")) {
  zones.textContent = `Times are those of your clock (${timeZone}).`;
}

// Arrow keys move between days. The selected day is described below the bars.
addEventListener("keydown", (event) => {
  const day = event.target.closest("[data-day]");
  if (!day) return;
  const days = all("[data-day]", day.parentNode);
  const at = days.indexOf(day);
  const keys = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: days.length - 1 };
  const next = days[keys[event.key]];
  if (!next) return;
  event.preventDefault();
  day.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) {
  addEventListener(type, ({ target }) => {
    const day = target.closest?.("[data-day]");
    const note = day?.closest("[data-days]").querySelector("[data-day-note]");
    if (!note) return;
    note.dataset.usual ??= note.textContent;
    const isLeft = type.endsWith("out");
    note.textContent = isLeft ? note.dataset.usual : day.querySelector("title").textContent;
  });
}
