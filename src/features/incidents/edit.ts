import type { Tx } from "../../db";
import { conflict, validate } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { requireFreeRef } from "./create";
import { UpdateIncidentBody } from "./bodies";
import { getIncident, type IncidentRecord, toRecord } from "./records";
import { type Services, saveIncident } from "./save-incident";
import type { IncidentRow } from "./store";
import { toMs } from "./times";

/**
 * Changes what an incident is called, how bad it is said to be, and when it was; what the input leaves
 * out stays. `draft: false` publishes a draft, which is then told as created. Times change history:
 * marks, bars and uptime follow. A change to what it is already changes nothing.
 *
 * Throws `not_found`, `validation_failed` that names every broken field, or `conflict` for an
 * `external_ref` in use (as by `createIncident`) and for a `resolved_at` of an incident that is not
 * resolved.
 */
export function updateIncident(
  ctx: Services,
  tx: Tx,
  id: string,
  input: UpdateIncidentBody,
  actor: Actor,
  maySeeDrafts = true,
): IncidentRecord {
  validate(UpdateIncidentBody, input);
  const record = getIncident(tx, id, true);
  const { row: before, updates } = record;
  if (input.resolved_at !== undefined && before.status !== "resolved") {
    throw conflict("The incident is not resolved, so it has no resolved_at yet. Post an update.");
  }
  const desired = wantedRow(before, input);
  if (isSame(before, desired)) return record;
  requireFreeRef(tx, desired, maySeeDrafts);
  const update = updates[0];
  const isPublishing = before.draft && !desired.draft;
  const notify = isPublishing && (update?.notify ?? true);
  const row = saveIncident(ctx, tx, {
    found: record,
    desired,
    summaries: updates,
    after: updates,
    input,
    actor,
    tell: { update, notify },
  });
  const action = isPublishing ? "incident.publish" : "incident.update";
  const verb = isPublishing ? "Published" : "Changed";
  audit(ctx, tx, actor, action, id, `${verb} the incident “${row.name}”`);
  return toRecord(tx, { row, page: record.page }, updates);
}

/** Returns the row with the fields that a change names. */
export function wantedRow(before: IncidentRow, input: UpdateIncidentBody): IncidentRow {
  const time = (given: string | null | undefined, known: number | null) => {
    if (given === undefined) return known;
    return given === null ? null : toMs(given);
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

function isSame(before: IncidentRow, desired: IncidentRow): boolean {
  return (Object.keys(before) as (keyof IncidentRow)[]).every(
    (field) => before[field] === desired[field],
  );
}
