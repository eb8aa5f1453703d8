import type { Tx } from "../../db";
import { validate } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { PutPostmortemBody } from "./bodies";
import { getIncident, type IncidentRecord, toRecord } from "./records";
import { type Services, saveIncident } from "./save-incident";
import type { IncidentRow } from "./store";

/**
 * Writes an incident's post-mortem. It is told when it is published; until then nobody outside sees
 * it. Throws `not_found`, or `validation_failed`.
 */
export function putPostmortem(
  ctx: Services,
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
    found: record,
    desired: { ...before, postmortemBody: input.body, postmortemPublishedAt: publishedAt },
    summaries: updates,
    after: updates,
    input: {},
    actor,
    tell: tellOf(before, publishedAt, record),
  });
  const summary = `Wrote the post-mortem of “${row.name}”${publishedAt === null ? "" : ", published"}`;
  audit(ctx, tx, actor, "incident.write_postmortem", id, summary);
  return toRecord(tx, { row, page: record.page }, updates);
}

function publishedAtOf(before: IncidentRow, publish: boolean | undefined, now: number) {
  if (publish === false) return null;
  return publish ? (before.postmortemPublishedAt ?? now) : before.postmortemPublishedAt;
}

function tellOf(before: IncidentRow, publishedAt: number | null, { updates }: IncidentRecord) {
  const wasPublished = before.postmortemPublishedAt !== null;
  const update = updates[0];
  if (!wasPublished && publishedAt === null) return undefined;
  if (wasPublished) return { event: "incident.updated" as const, update, notify: false };
  return { event: "incident.postmortem_published" as const, update, notify: true };
}
