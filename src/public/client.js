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
const { timeZone } = format.resolvedOptions();

/** Shows times in the reader's time zone. The original text becomes the tooltip. */
function localise(root) {
  for (const time of root.querySelectorAll("time[data-clock]")) {
    const from = new Date(time.dateTime);
    time.title = time.textContent;
    const text = time.dataset.until
      ? format.formatRange(from, new Date(time.dataset.until))
      : format.format(from);
    // Letters of a time zone would show the numbers after them on the wrong side in a text from right to left.
    time.textContent = document.dir === "rtl" ? text.replace(/[A-Z]{3}\S*/g, "$&\u200f") : text;
  }
  for (const zones of root.querySelectorAll("[data-zones]")) {
    zones.textContent = words.zone.replace("{zone}", () => timeZone);
  }
}

localise(document);
