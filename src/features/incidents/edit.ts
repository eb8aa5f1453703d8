import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { conflict } from "../../errors/problem";
import { validate } from "../../errors/examine";
import { audit } from "../../events/audit";
import type { Actor } from "../../domain/actor";
import { toMs } from "../timeline/updates";
import { resolveIfOver } from "./automatic";
import { requireFreeRef } from "./create";
import { PutPostmortemBody, UpdateIncidentBody } from "./bodies";
import { getIncident, type IncidentRecord, toRecord, type UpdateRecord } from "./records";
import { saveIncident } from "./save-incident";
import type { IncidentRow } from "./store";
import { isAllclears, takeOver } from "./words";

/**
 * Changes the name, impact, reference and times of an incident; omitted fields stay. `draft: false`
 * publishes a draft, whose event is `incident.created`. Changed times change causes and uptime. Writes
 * nothing if no field changes. An incident that Allclear opened is the actor's after a change of impact or times. One
 * whose outages have ended is resolved when it is published.
 *
 * Throws `not_found`, `validation_failed` with every invalid field, or `conflict` for an `external_ref`
 * in use (as `createIncident` does) and for a `resolved_at` of an incident that is not resolved.
 */
export function updateIncident(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: UpdateIncidentBody,
  actor: Actor,
  canSeeDrafts = true,
): IncidentRecord {
  validate(UpdateIncidentBody, input);
  const record = getIncident(tx, id, true);
  const { row: before, updates } = record;
  if (input.resolved_at !== undefined && before.status !== "resolved") {
    throw conflict("The incident is not resolved, so it has no resolved_at yet. Post an update.");
  }
  const desired = desiredRow(before, input);
  if (Bun.deepEquals(before, desired)) return record;
  requireFreeRef(tx, desired, canSeeDrafts);
  const isTakingOver = TAKES_OVER.some((field) => before[field] !== desired[field]);
  if (isTakingOver && takeOver(ctx, tx, before, { notify: true })) {
    return updateIncident(ctx, tx, id, input, actor, canSeeDrafts);
  }
  const update = updates[0];
  const isPublishing = before.draft && !desired.draft;
  const notify = isPublishing && (update?.notify ?? true);
  const row = saveIncident(ctx, tx, {
    before: record,
    row: desired,
    input,
    actor,
    event: { update, notify },
  });
  const action = isPublishing ? "incident.publish" : "incident.update";
  const verb = isPublishing ? "Published" : "Changed";
  audit(ctx, tx, actor, action, id, `${verb} the incident “${row.name}”`);
  if (!isPublishing || !isAllclears(tx, row)) {
    return toRecord(tx, { row, page: record.page }, updates);
  }
  resolveIfOver(ctx, tx, id);
  return getIncident(tx, id, true);
}

/** Fields by whose change an incident that Allclear opened becomes a person's. */
const TAKES_OVER = [
  "impactOverride",
  "startedAt",
  "identifiedAt",
  "monitoringAt",
  "resolvedAt",
] as const satisfies readonly (keyof IncidentRow)[];

/** Returns the row with the fields that a change names. */
export function desiredRow(before: IncidentRow, input: UpdateIncidentBody): IncidentRow {
  const time = (text: string | null | undefined, stored: number | null) => {
    if (text === undefined) return stored;
    return text === null ? null : toMs(text);
  };
  return {
    ...before,
    name: input.name ?? before.name,
    impactOverride:
      input.impact_override === undefined ? before.impactOverride : input.impact_override,
    externalRef: input.external_ref === undefined ? before.externalRef : input.external_ref,
    startedAt: time(input.started_at, before.startedAt) ?? before.startedAt,
    identifiedAt: time(input.identified_at, before.identifiedAt),
    monitoringAt: time(input.monitoring_at, before.monitoringAt),
    resolvedAt: time(input.resolved_at, before.resolvedAt),
    draft: input.draft ?? before.draft,
  };
}

/**
 * Writes an incident's post-mortem, and publishes or withdraws it if the input says so. Only a change
 * of a published post-mortem is recorded as an event. Throws `not_found`, or `validation_failed`.
 */
export function putPostmortem(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: PutPostmortemBody,
  actor: Actor,
): IncidentRecord {
  validate(PutPostmortemBody, input);
  const record = getIncident(tx, id, true);
  const { row: before, updates } = record;
  const publishedAt = publishedAtOf(before, input.publish, ctx.clock.now());
  if (before.postmortemBody === input.body && before.postmortemPublishedAt === publishedAt) {
    return record;
  }
  const row = saveIncident(ctx, tx, {
    before: record,
    row: {
      ...before,
      postmortemBody: input.body,
      postmortemPublishedAt: publishedAt,
      // No one sees the post-mortem of a draft.
      postmortemFirstPublishedAt:
        before.postmortemFirstPublishedAt ?? (before.draft ? null : publishedAt),
    },
    input: {},
    actor,
    event: postmortemEvent(before, publishedAt, updates[0], input.notify ?? true),
  });
  const summary = `Wrote the post-mortem of “${row.name}”${publishedAt === null ? "" : ", published"}`;
  audit(ctx, tx, actor, "incident.write_postmortem", id, summary);
  return toRecord(tx, { row, page: record.page }, updates);
}

function publishedAtOf(before: IncidentRow, publish: boolean | undefined, now: number) {
  if (publish === false) return null;
  return publish ? (before.postmortemPublishedAt ?? now) : before.postmortemPublishedAt;
}

function postmortemEvent(
  { postmortemPublishedAt: publishedBefore, postmortemFirstPublishedAt: first }: IncidentRow,
  publishedAt: number | null,
  update: UpdateRecord | undefined,
  notify: boolean,
) {
  if (publishedBefore !== null) return { update, notify: false };
  if (publishedAt === null) return undefined;
  const isNews = first === null;
  return { type: "incident.postmortem_published" as const, update, notify, isNews };
}
