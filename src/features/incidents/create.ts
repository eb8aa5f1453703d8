import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { conflict } from "../../errors/problem";
import { FieldErrors } from "../../errors/field-errors";
import { validate } from "../../errors/examine";
import { audit } from "../../events/audit";
import type { Actor } from "../../domain/actor";
import type { IncidentStatus } from "../../domain/incident-status";
import { findNamedPage } from "../pages/filter";
import { getPage, touchPage } from "../pages/service";
import { toMs } from "../timeline/updates";
import { recordIncidentEvent } from "./event";
import { CreateIncidentBody } from "./bodies";
import type { IncidentSource } from "./model";
import { affectedBy, type IncidentRecord } from "./records";
import { impactOf, timelineOf } from "./rules";
import { applyCauses, validateTimes } from "./save-incident";
import { findIncidentByRef, type IncidentRow, insertIncident } from "./store";
import { buildUpdate, writeUpdate } from "./append-update";

/**
 * Opens an incident with its first update, or records one that is over. The update takes effect at the
 * end of an incident that is over, else at its start. The statuses that it gives components apply from
 * the start on. A draft has no causes and no event.
 *
 * Throws `validation_failed` with every invalid field, or `conflict` for an `external_ref` that another
 * incident of the page has. The conflict names a draft only if `canSeeDrafts`.
 */
export function createIncident(
  ctx: Ctx,
  tx: Tx,
  input: CreateIncidentBody,
  source: IncidentSource,
  actor: Actor,
  canSeeDrafts = true,
): IncidentRecord {
  validate(CreateIncidentBody, input);
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const page = findNamedPage(tx, errors, input.page);
  const startedAt = startOf(input, now);
  const status = statusOf(errors, input);
  const resolvedAt =
    input.resolved_at === undefined ? Math.max(now, startedAt) : toMs(input.resolved_at);
  const displayAt = status === "resolved" ? resolvedAt : startedAt;
  const id = ctx.newId("inc");
  const incident = { id, pageId: page?.id };
  const update = buildUpdate(ctx, tx, errors, incident, input, {
    status,
    displayAt,
    isAutomatic: source === "monitor",
  });
  const times = timelineOf({ startedAt, draft: true }, [update], undefined);
  const statuses = update.components.map((named) => named.newStatus);
  const row: IncidentRow = {
    id,
    pageId: page?.id ?? "",
    name: input.name,
    status,
    impact: impactOf(statuses, input.impact_override ?? null),
    impactOverride: input.impact_override ?? null,
    source,
    draft: input.draft ?? false,
    externalRef: input.external_ref ?? null,
    startedAt,
    identifiedAt: times.identifiedAt,
    monitoringAt: times.monitoringAt,
    resolvedAt: status === "resolved" ? resolvedAt : null,
    postmortemBody: null,
    postmortemPublishedAt: null,
    postmortemFirstPublishedAt: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  validateTimes(errors, row, [update], input, now);
  errors.throwIfAny();
  requireFreeRef(tx, row, canSeeDrafts);
  insertIncident(tx, row);
  writeUpdate(tx, update);
  audit(ctx, tx, actor, "incident.create", row.id, `${opened(row)} “${row.name}”`);
  const record = {
    row,
    page: page ?? getPage(tx, row.pageId),
    components: affectedBy(row, [update], undefined),
    updates: [update],
  };
  if (row.draft) return record;
  const { notify } = update;
  recordIncidentEvent(ctx, tx, "incident.created", record, { update, notify, actor });
  applyCauses(ctx, tx, row, [update], undefined, { actor, notify }, false);
  touchPage(ctx, tx, row.pageId);
  return record;
}

/** Throws `conflict` if another incident has the reference, and names it if the caller may see it. */
export function requireFreeRef(
  reader: Reader,
  { id, pageId, externalRef }: Pick<IncidentRow, "id" | "pageId" | "externalRef">,
  canSeeDrafts: boolean,
): void {
  if (externalRef === null) return;
  const holder = findIncidentByRef(reader, { pageId, externalRef });
  if (!holder || holder.id === id) return;
  const isSeen = canSeeDrafts || !holder.draft;
  const name = isSeen ? `the incident ${holder.id}` : "another incident of the page";
  throw conflict(`The external_ref ${externalRef} is taken by ${name}.`);
}

/** Returns the start of a new incident in unix ms: its `started_at`, else now or an earlier end. */
export function startOf(input: Partial<CreateIncidentBody>, now: number): number {
  const { started_at: start, resolved_at: end } = input;
  if (start !== undefined) return toMs(start);
  return end === undefined ? now : Math.min(now, toMs(end));
}

/** Returns the status of a new incident, and adds an error for a `resolved_at` that does not fit it. */
export function statusOf(
  errors: FieldErrors,
  { status: named, resolved_at: end }: Partial<CreateIncidentBody>,
): IncidentStatus {
  const status = named ?? (end === undefined ? "investigating" : "resolved");
  if (status !== "resolved" && end !== undefined) {
    errors.add(["resolved_at"], `is only for a resolved incident, but the status is ${status}`);
  }
  return status;
}

function opened({ draft, status }: IncidentRow): string {
  if (draft) return "Drafted the incident";
  return status === "resolved" ? "Wrote down the incident" : "Opened the incident";
}
