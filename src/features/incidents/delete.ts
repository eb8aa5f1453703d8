import type { Tx } from "../../db";
import { audit, recordAudits } from "../../events";
import type { Actor } from "../../domain/actor";
import { replaceCauses } from "../components";
import { touchPage } from "../pages";
import { listDocumentHeads } from "./lists";
import { eventData } from "./event";
import {
  affectedBy,
  bodiesOf,
  type Found,
  getIncidentRow,
  listUpdateSummaries,
  type UpdateSummary,
  withBody,
} from "./records";
import { timelineOf } from "./rules";
import type { Services } from "./save-incident";
import { deleteIncidentRows, type IncidentRow, listAllOpenRows, updateIncidentRow } from "./store";

/**
 * Deletes an incident: 404 from now on. What it marks ends now; what it marked stays in the history of
 * its components. Throws `not_found`.
 */
export function deleteIncident(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const { row: before, page } = getIncidentRow(tx, id, true);
  const now = ctx.clock.now();
  const row = deletedRow(before, now);
  updateIncidentRow(tx, row);
  audit(ctx, tx, actor, "incident.delete", id, summaryOf(row));
  if (row.draft) return;
  const summaries = listUpdateSummaries(tx, id);
  // The event holds the newest update alone: the texts of the others are not read.
  recordDeletion(
    ctx,
    tx,
    { row, page },
    { summaries, isCut: false },
    bodiesOf(tx, summaries.slice(0, 1)),
  );
  const causes = timelineOf(row, summaries).causes.map((cause) => ({
    ...cause,
    to: cause.to ?? now,
  }));
  const why = { source: "incident", actor, reason: row.name, notify: true } as const;
  replaceCauses(ctx, tx, "incident", id, causes, why);
  touchPage(ctx, tx, row.pageId);
}

/**
 * Deletes the published incidents of a page that are not resolved, with the same events and audit rows as
 * `deleteIncident`. The components of the page are deleted already, so there are no causes to end. Drafts
 * and resolved incidents were never announced or have ended; they stay as they are.
 */
export function deleteOpenIncidentsOfPage(
  ctx: Services,
  tx: Tx,
  pageId: string,
  actor: Actor,
): void {
  const found = listAllOpenRows(tx, { pageId });
  if (found.length === 0) return;
  const now = ctx.clock.now();
  const ids = found.map(({ row }) => row.id);
  const summaries = listDocumentHeads(tx, ids);
  const newest = ids.flatMap((id) => summaries.get(id)?.summaries.slice(0, 1) ?? []);
  const bodies = bodiesOf(tx, newest);
  deleteIncidentRows(tx, { ids: JSON.stringify(ids), at: now });
  recordAudits(
    tx,
    found.map(({ row }) => ({
      actor,
      action: "incident.delete",
      targetId: row.id,
      summary: summaryOf(row),
      at: now,
    })),
  );
  for (const { row: before, page } of found) {
    const own = summaries.get(before.id) ?? { summaries: [], isCut: false };
    recordDeletion(ctx, tx, { row: deletedRow(before, now), page }, own, bodies);
  }
  touchPage(ctx, tx, pageId);
}

function deletedRow(before: IncidentRow, now: number): IncidentRow {
  return { ...before, version: before.version + 1, updatedAt: now, deletedAt: now };
}

function summaryOf({ name }: IncidentRow): string {
  return `Deleted the incident “${name}”`;
}

/** Records the event of a deletion with the newest update, whose text is in `bodies`. */
function recordDeletion(
  ctx: Services,
  tx: Tx,
  { row, page }: Found,
  { summaries, isCut }: { summaries: readonly UpdateSummary[]; isCut: boolean },
  bodies: ReadonlyMap<string, string>,
): void {
  const [newest] = summaries;
  const record = { row, page, components: affectedBy(row, summaries), isCut };
  ctx.outbox.record(tx, {
    type: "incident.deleted",
    pageId: row.pageId,
    subjectId: row.id,
    data: eventData(record, newest && withBody(newest, bodies), true, ctx.baseUrl),
  });
}
