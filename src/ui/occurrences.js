// Shows the next occurrences of a schedule while its times are typed.

const OCCURRENCES_AFTER_MS = 300;
const TIMES = [
  "repeats",
  "at",
  "on_days",
  "month_day",
  "month_week",
  "month_weekday",
  "cron",
  "time_zone",
  "duration_minutes",
  "starts_on",
  "ends_on",
  "every_days",
];

/** Timers of the forms whose occurrences are being asked for. */
const asking = new WeakMap();

/** Asks for the next occurrences of a changed form, which writes nothing. The last of several changes counts. */
function showOccurrences(form, element) {
  clearTimeout(asking.get(form));
  const timer = setTimeout(async () => {
    const page = await askForForm(form, element.dataset.occurrences);
    const next = page?.querySelector("[data-occurrences]");
    if (next && asking.get(form) === timer) element.replaceChildren(...next.childNodes);
  }, OCCURRENCES_AFTER_MS);
  asking.set(form, timer);
}

document.addEventListener("input", ({ target }) => {
  const form = target.closest("form");
  const element = form?.querySelector("[data-occurrences]");
  if (element && TIMES.includes(target.name)) showOccurrences(form, element);
});
