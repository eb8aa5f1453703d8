/** Statuses from one to another, both included. */
interface StatusRange {
  from: number;
  to: number;
}

const RANGE = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;

/** Parses a status or a range of them, such as `200-299`; undefined for other text. */
export function parseStatusRange(text: string): StatusRange | undefined {
  const [, from, to = from] = RANGE.exec(text) ?? [];
  if (from === undefined || Number(from) > Number(to)) return undefined;
  return { from: Number(from), to: Number(to) };
}
