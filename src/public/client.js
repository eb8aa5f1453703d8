// Adds local times to a status page, which is complete without a script.
const { locale, words: ownWords } = document.currentScript.dataset;
const words = ownWords ? JSON.parse(ownWords) : WORDS;

const format = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
});

/** Shows times in the reader's time zone. The original text becomes the tooltip. */
function localise(root) {
  for (const time of root.querySelectorAll("time[data-clock]")) {
    time.title = time.textContent;
    const { until = time.dateTime } = time.dataset;
    const text = format.formatRange(new Date(time.dateTime), new Date(until));
    // From right to left, the letters of a time zone would show the numbers after them on the wrong side.
    time.textContent = document.dir ? text.replace(/[A-Z]\S*/g, "$&\u200f") : text;
  }
  for (const zones of root.querySelectorAll("[data-zones]")) {
    zones.textContent = words.zone.replace("{zone}", format.resolvedOptions().timeZone);
  }
}

localise(document);
