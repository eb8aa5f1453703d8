// Arrow keys move in charts. A text below the chart describes the selected day or point.

document.addEventListener("keydown", (event) => {
  const day = event.target.closest?.("[data-day]");
  if (!day) return;
  const days = [...day.parentElement.querySelectorAll("[data-day]")];
  const index = days.indexOf(day);
  const keys = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: days.length - 1 };
  const next = days[keys[event.key]];
  if (!next) return;
  event.preventDefault();
  day.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) {
  document.addEventListener(type, ({ target }) => {
    const day = target.closest?.("[data-day]");
    const note = day?.closest(".day-bars, [data-days]")?.querySelector("[data-day-note]");
    if (!note) return;
    const usual = (note.dataset.usual ??= note.textContent);
    note.textContent = type.endsWith("out") ? usual : day.querySelector("title").textContent;
  });
}
