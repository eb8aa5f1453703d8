import type { FieldErrors } from "../../errors";
import { isInFuture } from "../timeline";
import { firstWritten, type IncidentTimes } from "./rules";

const TIMES = {
  started_at: "startedAt",
  identified_at: "identifiedAt",
  monitoring_at: "monitoringAt",
  resolved_at: "resolvedAt",
} as const;

/**
 * Adds errors for an incident's times that lie in the future or before its start. An error is about a
 * field of `input`, the body of the request.
 */
export function validateTimes(
  errors: FieldErrors,
  row: IncidentTimes & { startedAt: number },
  updates: readonly { id: string; displayAt: number }[],
  input: object,
  now: number,
): void {
  const isNamed = (field: string) => (input as Record<string, unknown>)[field] !== undefined;
  for (const [field, property] of Object.entries(TIMES)) {
    const time = row[property];
    if (time === null) continue;
    if (isNamed(field) && isInFuture(time, now)) errors.add([field], "lies in the future");
    else if (time < row.startedAt) {
      if (isNamed(field)) errors.add([field], "is before the incident started");
      else errors.add(["started_at"], `is after ${field}`);
    }
  }
  const first = firstWritten(updates);
  const isBroken = updates.some((each) => each !== first && each.displayAt < row.startedAt);
  if (isBroken && isNamed("started_at")) {
    errors.add(["started_at"], "is after the display_at of an update");
  }
}

/**
 * Adds an error for the time of an update that lies in the future or before `startedAt`, which is
 * undefined for the first update.
 */
export function validateDisplayAt(
  errors: FieldErrors,
  displayAt: number,
  startedAt: number | undefined,
  now: number,
): void {
  if (isInFuture(displayAt, now)) errors.add(["display_at"], "lies in the future");
  else if (startedAt !== undefined && displayAt < startedAt) {
    errors.add(["display_at"], "is before the incident started");
  }
}
