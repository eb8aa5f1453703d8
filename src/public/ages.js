// Formats ages in words.

/** Units of ages in milliseconds, with those that English writes. */
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000, "h"],
  ["minute", 60_000, "min"],
];

/** Returns "4 min ago" for a time in milliseconds. Other parts of the scripts use it. */
// oxlint-disable-next-line no-unused-vars
function ageOf(ms) {
  const [unit, size, short] = UNITS.find(([, length]) => ms >= length) ?? [];
  if (!unit) return words.now;
  const count = Math.floor(ms / size);
  // Words are English also in place of another language.
  if (!ownWords) return `${count} ${short ?? (count > 1 ? "days" : unit)} ago`;
  return new Intl.RelativeTimeFormat(locale, { style: "short" }).format(-count, unit);
}
