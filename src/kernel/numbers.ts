export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * Formats a share: "99.97 %" for 0.99979 with two digits, rounded down so that a failure never shows
 * as "100 %". "–" for no data.
 */
export function percent(share: number | null, digits: number): string {
  if (share === null) return "–";
  if (share === 1) return "100 %";
  const scale = 10 ** digits;
  return `${(Math.floor(share * (100 * scale)) / scale).toFixed(digits)} %`;
}
