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
  // 999,500 bytes and more are rounded to 1 MB.
  const isBelow = (_: string, exponent: number) => bytes < 999.5 * 1_000 ** exponent;
  const found = BYTE_UNITS.findIndex(isBelow);
  const exponent = found === -1 ? BYTE_UNITS.length - 1 : found;
  const value = bytes / 1_000 ** exponent;
  const digits = exponent === 0 || value >= 100 ? 0 : 1;
  const text = value.toFixed(digits).replace(/\.0$/, "");
  return `${text} ${BYTE_UNITS[exponent]}`;
}
