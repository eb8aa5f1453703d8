/** Milliseconds of the units of durations in Go. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Longest duration in Go: 2^63 - 1 nanoseconds, in ms. */
const MAX_MS = 9_223_372_036_854;

const PART = /(\d+\.?\d*|\.\d+)([^\d.]*)/y;

/** Reads a duration such as `1.5s` or `1m30s` to ms. Returns Go's error message for any other text. */
export function readGoDuration(text: string): { ms: number } | { error: string } {
  const quoted = JSON.stringify(text);
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return { ms: 0 };
  if (unsigned === "") return { error: `time: invalid duration ${quoted}` };
  let ms = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < unsigned.length) {
    const [, number = "", unit = ""] = PART.exec(unsigned) ?? [];
    if (number === "") return { error: `time: invalid duration ${quoted}` };
    if (unit === "") return { error: `time: missing unit in duration ${quoted}` };
    const factor = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (factor === undefined) {
      return { error: `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}` };
    }
    ms += Number(number) * factor;
  }
  if (ms > MAX_MS) return { error: `time: invalid duration ${quoted}` };
  return { ms: text.startsWith("-") ? -ms : ms };
}
