import type { FieldErrors } from "../../errors";
import { MINUTE_MS, parseInstant } from "../../kernel/time";
import type { IncidentRow } from "./store";
import { firstWritten } from "./rules";

/** Clocks differ: what a caller's clock calls now may be a little later than ours does. */
const FUTURE_MS = MINUTE_MS;

/** A time of a body that its schema has let through, in unix ms. */
export function toMs(text: string): number {
  const ms = parseInstant(text);
  if (ms === undefined) throw new Error("the schema lets no other text through");
  return ms;
}

const TIMES = {
  started_at: "startedAt",
  identified_at: "identifiedAt",
  monitoring_at: "monitoringAt",
  resolved_at: "resolvedAt",
} as const satisfies Record<string, keyof IncidentRow>;

/**
 * Complains of an incident's times: of those in the future, and of those that lie before its start.
 * `input` is the body that brought them; the complaint is about a field that it has.
 */
export function validateTimes(
  errors: FieldErrors,
  row: Pick<IncidentRow, (typeof TIMES)[keyof typeof TIMES]>,
  updates: readonly { id: string; displayAt: number }[],
  input: object,
  now: number,
): void {
  const isGiven = (field: string) => (input as Record<string, unknown>)[field] !== undefined;
  for (const [field, property] of Object.entries(TIMES)) {
    const time = row[property];
    if (time === null) continue;
    if (isGiven(field) && time > now + FUTURE_MS) errors.add([field], "lies in the future");
    else if (time < row.startedAt) {
      if (isGiven(field)) errors.add([field], "is before the incident started");
      else errors.add(["started_at"], `is after ${field}`);
    }
  }
  const first = firstWritten(updates);
  const isBroken = updates.some((each) => each !== first && each.displayAt < row.startedAt);
  if (isBroken && isGiven("started_at")) {
    errors.add(["started_at"], "is after the display_at of an update");
  }
}

/** Complains of the moment at which an update is to take effect. The first may lie anywhere before now. */
export function validateDisplayAt(
  errors: FieldErrors,
  displayAt: number,
  startedAt: number | undefined,
  now: number,
): void {
  if (displayAt > now + FUTURE_MS) errors.add(["display_at"], "lies in the future");
  else if (startedAt !== undefined && displayAt < startedAt) {
    errors.add(["display_at"], "is before the incident started");
  }
}
