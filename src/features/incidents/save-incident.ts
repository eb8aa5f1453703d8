import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { FieldErrors } from "../../errors";
import type { EventType } from "../../events";
import type { Actor } from "../../domain/actor";
import { replaceCauses } from "../components";
import { touchPage } from "../pages";
import { eventData } from "./event";
import { affectedBy, type Found, type UpdateSummary, type UpdateRecord } from "./records";
import { manualStatusesOf, impactOf, inOrder, timelineOf, timesAfter } from "./rules";
import { type IncidentRow, updateIncidentRow } from "./store";
import { validateTimes } from "./times";

export type Services = Pick<AppContext, "baseUrl" | "clock" | "newId" | "outbox" | "signals">;

export interface Change {
  /** The incident as it is. */
  found: Found;
  /** Its fields as they are to be; what follows from its updates is reckoned anew. */
  desired: IncidentRow;
  /** Its updates as they are, and as they are to be. */
  summaries: readonly UpdateSummary[];
  after: readonly UpdateSummary[];
  /** The body that asks for the change. */
  input: object;
  actor: Actor;
  /** Event to record and its update. Without `event` the statuses before and after decide. */
  tell: { event?: EventType; update: UpdateRecord | undefined; notify: boolean } | undefined;
}

/**
 * Writes an incident as its fields and its updates make it: status, impact, times and marks. Tells it
 * with one event, and the components that show something else with one each; a draft tells nobody.
 * Throws `validation_failed` for times that cannot be.
 */
export function saveIncident(ctx: Services, tx: Tx, change: Change): IncidentRow {
  const { found, summaries, after, input, actor, tell } = change;
  const { row: before, page } = found;
  const now = ctx.clock.now();
  const row = rowAfter(change, now);
  const errors = new FieldErrors();
  validateTimes(errors, row, after, input, now);
  errors.throwIfAny();
  updateIncidentRow(tx, row);
  if (row.draft) return row;
  if (tell) {
    const record = { row, page, components: affectedBy(row, after) };
    ctx.outbox.record(tx, {
      type: tell.event ?? eventOf(before, row),
      pageId: row.pageId,
      subjectId: row.id,
      data: eventData(record, tell.update, tell.notify, ctx.baseUrl),
    });
  }
  const last = inOrder(after).at(-1);
  const isLastNew = !summaries.some((head) => head.id === last?.id);
  const by = { actor, notify: tell?.notify ?? true };
  applyCauses(ctx, tx, row, after, by, before.draft || isLastNew);
  touchPage(ctx, tx, row.pageId);
  return row;
}

/** Returns the row of an incident as its fields and its updates make it, at `now` (unix ms). */
export function rowAfter(
  change: Pick<Change, "desired" | "summaries" | "after"> & { found: Pick<Found, "row"> },
  now: number,
): IncidentRow {
  const { found, desired, summaries, after } = change;
  const before = found.row;
  const given = timelineOf(before, summaries);
  const timeline = timelineOf({ ...desired, resolvedAt: null }, after);
  const times = timesAfter(before, given, timeline);
  return {
    ...desired,
    status: timeline.status,
    impact: impactOf(
      after.flatMap((head) => head.components.map((named) => named.newStatus)),
      desired.impactOverride,
    ),
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

/** Marks components as a published incident says. `by` tells who made it say so, and whether people hear. */
export function applyCauses(
  ctx: Services,
  tx: Tx,
  row: IncidentRow,
  updates: readonly UpdateSummary[],
  by: { actor: Actor; notify: boolean },
  mayLeaveManualStatuses: boolean,
): void {
  const { causes } = timelineOf(row, updates);
  const why = { source: "incident", reason: row.name, ...by } as const;
  const baselines = mayLeaveManualStatuses ? manualStatusesOf(updates) : undefined;
  replaceCauses(ctx, tx, "incident", row.id, causes, why, baselines);
}

function eventOf(before: IncidentRow, after: IncidentRow): EventType {
  if (before.draft) return "incident.created";
  const wasResolved = before.status === "resolved";
  const isResolved = after.status === "resolved";
  if (isResolved === wasResolved) return "incident.updated";
  return isResolved ? "incident.resolved" : "incident.reopened";
}
