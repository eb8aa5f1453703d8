// Formats ages in words.

/** Units of relative times, in seconds. */
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Returns "4 min ago" for a time in milliseconds. Other parts of the scripts use it. */
// oxlint-disable-next-line no-unused-vars
function ageOf(ms) {
  const seconds = ms / 1_000;
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? [];
  if (!unit) return words["time.just_now"];
  const ages = new Intl.RelativeTimeFormat(locale, { style: "short" });
  return ages.format(-Math.floor(seconds / size), unit);
}
