// Formats ages in words.

const ages = new Intl.RelativeTimeFormat(locale, { style: "short" });

/** Returns "4 min ago" for a time in milliseconds. Other parts of the scripts use it. */
// oxlint-disable-next-line no-unused-vars
function ageOf(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return words.now;
  if (minutes < 60) return ages.format(-minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? ages.format(-hours, "hour") : ages.format(-Math.floor(hours / 24), "day");
}
