import type { Clock } from "./clock";

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

/** Rest after a step of background work, as a multiple of its duration: the work takes a third of the time. */
const REST_PER_WORK = 2;
/** Longest rest, such as after a step that waited for another process. */
const LONGEST_REST_MS = 1_000;
/** Shorter rests are added up, since a timer of less than a millisecond is not possible. */
const SHORTEST_REST_MS = 1;

/** Returns the rest in ms after a step that took `tookMs`. */
export function restAfter(tookMs: number): number {
  return Math.min(LONGEST_REST_MS, REST_PER_WORK * tookMs);
}

/**
 * Repeats a step of background work until it resolves to false. Rests after each step for twice its duration, so
 * that requests and other writers get their turn, on a slow disk or a busy machine too.
 */
export async function repeatWithRests(clock: Clock, step: () => Promise<boolean>): Promise<void> {
  let restMs = 0;
  for (;;) {
    const startedAt = clock.monotonic();
    // oxlint-disable-next-line no-await-in-loop
    if (!(await step())) return;
    restMs += restAfter(clock.monotonic() - startedAt);
    if (restMs < SHORTEST_REST_MS) continue;
    const waitMs = restMs;
    restMs = 0;
    // oxlint-disable-next-line no-await-in-loop
    await new Promise<void>((resolve) => clock.after(waitMs, resolve));
  }
}
