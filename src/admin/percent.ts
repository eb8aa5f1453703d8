/** "99.971 %" for 0.9997199: rounded down, so that no outage reads as 100 %. "–" where nothing is known. */
export function percent(share: number | null): string {
  if (share === null) return "–";
  if (share === 1) return "100 %";
  return `${(Math.floor(share * 100_000) / 1_000).toFixed(3)} %`;
}
