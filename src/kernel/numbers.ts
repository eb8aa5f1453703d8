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

const BYTE_UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;

/** Formats a size in decimal units, with one digit below 100: "812 bytes", "1.3 GB", "40 GB". */
export function formatBytes(bytes: number): string {
  const exponent = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1);
  const value = bytes / 1_000 ** exponent;
  const digits = exponent === 0 || value >= 100 ? 0 : 1;
  const text = value.toFixed(digits).replace(/\.0$/, "");
  return `${text} ${BYTE_UNITS[exponent]}`;
}
