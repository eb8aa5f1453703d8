import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { FieldErrors } from "../../errors/field-errors";
import type { EventType } from "../../events/catalog";
import type { OutboxEvent } from "../../events/outbox";
import type { Actor } from "../../domain/actor";
import { replaceCauses } from "../components/causes";
import { touchPage } from "../pages/service";
import { isInFuture } from "../timeline/updates";
import { recordIncidentEvent } from "./event";
import {
  affectedBy,
  automationOf,
  type IncidentWithPage,
  type UpdateSummary,
  type UpdateRecord,
} from "./records";
import {
  type Automation,
  firstWritten,
  type IncidentTimes,
  impactOf,
  inOrder,
  manualStatusesOf,
  statusesEverGiven,
  timelineOf,
  timesAfter,
} from "./rules";
import { type IncidentRow, updateIncidentRow } from "./store";

interface Change {
  /** The incident and its updates before the change. */
  before: IncidentWithPage & { updates: readonly UpdateSummary[] };
  /** Its changed row, if any. Fields that follow from the updates are computed. */
  row?: IncidentRow;
  /** Its updates after the change, if they change. */
  updates?: readonly UpdateSummary[];
  /** The body of the request. */
  input: object;
  actor: Actor;
  /** Event to record, if any. Its type follows from the statuses before and after unless it is given. */
  event:
    | {
        type?: EventType;
        update: UpdateRecord | undefined;
        notify: boolean;
        isNews?: boolean;
        monitors?: OutboxEvent["monitors"];
      }
    | undefined;
}

/**
 * Writes an incident with the status, impact, times and causes that follow from its fields and updates.
 * Records its event and one for each component whose status changes, unless it is a draft. Throws
 * `validation_failed` for impossible times.
 */
export function saveIncident(ctx: Ctx, tx: Tx, change: Change): IncidentRow {
  const { before, updates = before.updates, input, actor, event } = change;
  const now = ctx.clock.now();
  const automation = automationOf(tx, before.row);
  const row = rowAfter(change, now, automation);
  const errors = new FieldErrors();
  validateTimes(errors, row, updates, input, now);
  errors.throwIfAny();
  updateIncidentRow(tx, row);
  if (row.draft) return row;
  if (event) {
    const record = { row, page: before.page, components: affectedBy(row, updates, automation) };
    const type = event.type ?? eventOf(before.row, row);
    recordIncidentEvent(ctx, tx, type, record, { ...event, actor });
  }
  const last = inOrder(updates).at(-1);
  const isLastNew = !before.updates.some(({ id }) => id === last?.id);
  const by = { actor, notify: event?.notify ?? true };
  applyCauses(ctx, tx, row, updates, automation, by, before.row.draft || isLastNew);
  touchPage(ctx, tx, row.pageId);
  return row;
}

/** Returns the row of an incident after a change at `now` (unix ms). */
export function rowAfter(
  change: Pick<Change, "row" | "updates"> & { before: Omit<Change["before"], "page"> },
  now: number,
  automation: Automation | undefined,
): IncidentRow {
  const before = change.before.row;
  const { row: desired = before, updates = change.before.updates } = change;
  const computedBefore = timelineOf(before, change.before.updates, automation);
  const timeline = timelineOf({ ...desired, resolvedAt: null }, updates, automation);
  const times = timesAfter(before, computedBefore, timeline);
  return {
    ...desired,
    status: timeline.status,
    impact: impactOf(statusesEverGiven(updates, automation), desired.impactOverride),
    identifiedAt: setByHand("identifiedAt"),
    monitoringAt: setByHand("monitoringAt"),
    resolvedAt: times.resolvedAt === null ? null : setByHand("resolvedAt"),
    version: before.version + 1,
    updatedAt: now,
  };

  function setByHand(time: "identifiedAt" | "monitoringAt" | "resolvedAt"): number | null {
    return desired[time] === before[time] ? times[time] : desired[time];
  }
}

/** Applies the causes of a published incident. `by` is the actor, and whether people are notified. */
export function applyCauses(
  ctx: Ctx,
  tx: Tx,
  row: IncidentRow,
  updates: readonly UpdateSummary[],
  automation: Automation | undefined,
  by: { actor: Actor; notify: boolean },
  setsManualStatuses: boolean,
): void {
  const { causes } = timelineOf(row, updates, automation);
  const changeReason = { source: "incident", reason: row.name, ...by } as const;
  const manualStatuses = setsManualStatuses ? manualStatusesOf(updates) : undefined;
  replaceCauses(ctx, tx, "incident", row.id, causes, changeReason, manualStatuses);
}

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
    if (isNamed(field) && isInFuture(time, now)) errors.add([field], "is in the future");
    else if (time < row.startedAt) {
      if (isNamed(field)) errors.add([field], "is before the incident started");
      else errors.add(["started_at"], `is after ${field}`);
    }
  }
  const first = firstWritten(updates);
  const isBeforeStart = updates.some((each) => each !== first && each.displayAt < row.startedAt);
  if (isBeforeStart && isNamed("started_at")) {
    errors.add(["started_at"], "is after the display_at of an update");
  }
}

/**
 * Adds an error for the time of an update that is in the future or before `startedAt`, which is
 * undefined for the first update.
 */
export function validateDisplayAt(
  errors: FieldErrors,
  displayAt: number,
  startedAt: number | undefined,
  now: number,
): void {
  if (isInFuture(displayAt, now)) errors.add(["display_at"], "is in the future");
  else if (startedAt !== undefined && displayAt < startedAt) {
    errors.add(["display_at"], "is before the incident started");
  }
}

function eventOf(before: IncidentRow, after: IncidentRow): EventType {
  if (before.draft) return "incident.created";
  const wasResolved = before.status === "resolved";
  const isResolved = after.status === "resolved";
  if (isResolved === wasResolved) return "incident.updated";
  return isResolved ? "incident.resolved" : "incident.reopened";
}
