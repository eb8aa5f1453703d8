/**
 * Formats a share: "99.971 %" for 0.9997199, rounded down so that an outage never shows as 100 %.
 * "–" for no data.
 */
export function percent(share: number | null): string {
  if (share === null) return "–";
  if (share === 1) return "100 %";
  return `${(Math.floor(share * 100_000) / 1_000).toFixed(3)} %`;
}
