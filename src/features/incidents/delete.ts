import type { Tx } from "../../db";
import { audit, recordAudits } from "../../events";
import type { Actor } from "../../domain/actor";
import { replaceCauses } from "../components";
import { touchPage } from "../pages";
import { recordIncidentEvent } from "./event";
import { countWhole, listUpdates, type UpdateList } from "./lists";
import {
  affectedBy,
  bodiesOf,
  type Found,
  getIncidentRow,
  listUpdateSummaries,
  withBody,
} from "./records";
import { timelineOf } from "./rules";
import type { Services } from "./save-incident";
import { deleteIncidentRows, type IncidentRow, listAllOpenRows, updateIncidentRow } from "./store";

/**
 * Deletes an incident and ends its causes now. Their past stays in the history of the components.
 * Throws `not_found`.
 */
export function deleteIncident(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const { row: before, page } = getIncidentRow(tx, id, true);
  const now = ctx.clock.now();
  const row = deletedRow(before, now);
  updateIncidentRow(tx, row);
  audit(ctx, tx, actor, "incident.delete", id, summaryOf(row));
  if (row.draft) return;
  const updates = listUpdateSummaries(tx, id);
  // Only the text of the newest update is read, since the event contains no other.
  recordDeletion(
    ctx,
    tx,
    { row, page },
    { updates, isCut: false },
    bodiesOf(tx, updates.slice(0, 1)),
  );
  const { causes } = timelineOf(row, updates);
  const endedCauses = causes.map((cause) => ({ ...cause, to: cause.to ?? now }));
  const why = { source: "incident", actor, reason: row.name, notify: true } as const;
  replaceCauses(ctx, tx, "incident", id, endedCauses, why);
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
  const lists = listUpdates(tx, ids, countWhole(tx, ids));
  const bodies = bodiesOf(
    tx,
    lists.flatMap(({ updates }) => updates.slice(0, 1)),
  );
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
  for (const [index, { row, page }] of found.entries()) {
    recordDeletion(ctx, tx, { row: deletedRow(row, now), page }, lists[index], bodies);
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
  { updates, isCut }: UpdateList = { updates: [], isCut: false },
  bodies: ReadonlyMap<string, string>,
): void {
  const [newest] = updates;
  const record = { row, page, components: affectedBy(row, updates), isCut };
  const update = newest && withBody(newest, bodies);
  recordIncidentEvent(ctx, tx, "incident.deleted", record, { update, notify: true });
}
