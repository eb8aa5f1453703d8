// Formats ages in words.

/** Units of relative times in English, in seconds. */
const UNITS = [
  ["day", 86_400],
  ["h", 3_600],
  ["min", 60],
];

/** Undefined for English words, also in place of another language. */
const ages = ownWords && new Intl.RelativeTimeFormat(locale, { style: "short" });

/** Returns "4 min ago" for a time in milliseconds. Other parts of the scripts use it. */
// oxlint-disable-next-line no-unused-vars
function ageOf(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return words.now;
  if (!ages) return englishAge(ms / 1_000);
  if (minutes < 60) return ages.format(-minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? ages.format(-hours, "hour") : ages.format(-Math.floor(hours / 24), "day");
}

function englishAge(seconds) {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length);
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${unit === "day" && count > 1 ? "s" : ""} ago`;
}
