import type { Tx } from "../../db";
import { audit } from "../../events";
import type { Actor } from "../../kernel/actor";
import { replaceMarks } from "../components";
import { touchPage } from "../pages";
import { eventData } from "./event";
import { affectedBy, getIncidentRow, listHeads, toRecord } from "./records";
import { timelineOf } from "./rules";
import type { Services } from "./settle";
import { listOpenIncidentIds, updateIncidentRow } from "./store";

/**
 * Deletes an incident: 404 from now on. What it marks ends now; what it marked stays in the history of
 * its components. Throws `not_found`.
 */
export function deleteIncident(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const found = getIncidentRow(tx, id, true);
  const { row: before } = found;
  const now = ctx.clock.now();
  const row = { ...before, version: before.version + 1, updatedAt: now, deletedAt: now };
  updateIncidentRow(tx, row);
  audit(ctx, tx, actor, "incident.delete", id, `Deleted the incident “${row.name}”`);
  if (row.draft) return;
  const heads = listHeads(tx, id);
  // Only the newest update is in the event: the texts of the others are not read.
  const [latest] = toRecord(tx, found, heads.slice(0, 1)).updates;
  const record = { row, page: found.page, components: affectedBy(row, heads) };
  ctx.outbox.record(tx, {
    type: "incident.deleted",
    pageId: row.pageId,
    subjectId: id,
    data: eventData(record, latest, true, ctx.baseUrl),
  });
  const marks = timelineOf(row, heads).marks.map((mark) => ({ ...mark, to: mark.to ?? now }));
  const why = { source: "incident", actor, reason: row.name, notify: true } as const;
  replaceMarks(ctx, tx, "incident", id, marks, why);
  touchPage(ctx, tx, row.pageId);
}

/**
 * Deletes the published incidents of a page that are not resolved, as `deleteIncident` does. Drafts and
 * resolved incidents have no open causes and were never announced or have ended; they stay as they are.
 */
export function deleteOpenIncidentsOfPage(
  ctx: Services,
  tx: Tx,
  pageId: string,
  actor: Actor,
): void {
  for (const { id } of listOpenIncidentIds(tx, { pageId })) deleteIncident(ctx, tx, id, actor);
}
