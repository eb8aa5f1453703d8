// Formats ages in words.

/** Units of relative times, in seconds. */
const UNITS = [
  ["day", 86_400],
  ["h", 3_600],
  ["min", 60],
];

/** Returns "4 min ago" for a time in milliseconds. Other parts of the scripts use it. */
// oxlint-disable-next-line no-unused-vars
function ageOf(ms) {
  const seconds = ms / 1_000;
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? [];
  if (!unit) return "just now";
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${unit === "day" && count > 1 ? "s" : ""} ago`;
}
