import type { SummaryCursor } from "../features/incidents";

/** A place in a month's history as a link has it: a beginning in unix ms, and the id of what began then. */
export const PLACE_PATTERN = "^[0-9]{1,15}-(?:inc|mnt)_[0-9a-z]+$";

export function placeText({ at, id }: SummaryCursor): string {
  return `${at}-${id}`;
}

/** Takes what the pattern has let through. */
export function placeOf(text: string | undefined): SummaryCursor | undefined {
  if (text === undefined) return undefined;
  const hyphen = text.indexOf("-");
  return { at: Number(text.slice(0, hyphen)), id: text.slice(hyphen + 1) };
}
