import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { recordAudits } from "../../events/audit";
import type { Actor } from "../../domain/actor";
import { replaceCauses } from "../components/causes";
import { touchPage } from "../pages/service";
import { recordIncidentEvent } from "./event";
import { countComplete, listUpdates, type UpdateList } from "./lists";
import {
  affectedBy,
  automationOf,
  bodiesOf,
  type IncidentWithPage,
  getIncidentRow,
  listUpdateSummaries,
  withBody,
} from "./records";
import { timelineOf } from "./rules";
import { deleteIncidentRows, listAllOpenRows } from "./store";

/**
 * Deletes an incident and ends its causes now. Their past stays in the history of the components.
 * Throws `not_found`.
 */
export function deleteIncident(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const incident = getIncidentRow(tx, id, true);
  const { row } = incident;
  const updates = listUpdateSummaries(tx, id);
  const now = ctx.clock.now();
  deleteRows(ctx, tx, [{ ...incident, updates, isTruncated: false }], { actor, now });
  if (row.draft) return;
  const { causes } = timelineOf(row, updates, automationOf(tx, row));
  const ended = causes.map((cause) => ({ ...cause, to: cause.to ?? now }));
  const changeReason = { source: "incident", actor, reason: row.name, notify: true } as const;
  replaceCauses(ctx, tx, "incident", id, ended, changeReason);
  touchPage(ctx, tx, row.pageId);
}

/**
 * Deletes the published open incidents of a page, with the same events and audit rows as
 * `deleteIncident`. The components of the page are deleted already, so there are no causes to end.
 * Drafts and resolved incidents were never announced or have ended; they stay.
 */
export function deleteOpenIncidentsOfPage(ctx: Ctx, tx: Tx, pageId: string, actor: Actor): void {
  const openIncidents = listAllOpenRows(tx, { pageId });
  if (openIncidents.length === 0) return;
  const ids = openIncidents.map(({ row }) => row.id);
  const lists = listUpdates(tx, ids, countComplete(tx, ids));
  const incidents = openIncidents.map((one, index) => ({
    ...one,
    ...(lists[index] ?? { updates: [], isTruncated: false }),
  }));
  deleteRows(ctx, tx, incidents, { actor, now: ctx.clock.now() });
  touchPage(ctx, tx, pageId);
}

/** Deletes incidents, and records their audit rows and the events of published ones. */
function deleteRows(
  ctx: Ctx,
  tx: Tx,
  incidents: readonly (IncidentWithPage & UpdateList)[],
  { actor, now }: { actor: Actor; now: number },
): void {
  deleteIncidentRows(tx, { ids: JSON.stringify(incidents.map(({ row }) => row.id)), at: now });
  recordAudits(
    tx,
    incidents.map(({ row: { id, name } }) => ({
      actor,
      action: "incident.delete",
      targetId: id,
      summary: `Deleted the incident “${name}”`,
      at: now,
    })),
  );
  const published = incidents.filter(({ row }) => !row.draft);
  // Only the texts of the newest updates are read, since the events contain no others.
  const bodies = bodiesOf(
    tx,
    published.flatMap(({ updates }) => updates.slice(0, 1)),
  );
  for (const { row: before, page, updates, isTruncated } of published) {
    const row = { ...before, version: before.version + 1, updatedAt: now, deletedAt: now };
    const components = affectedBy(row, updates, isTruncated ? undefined : automationOf(tx, row));
    const record = { row, page, components, isTruncated };
    const update = updates[0] && withBody(updates[0], bodies);
    recordIncidentEvent(ctx, tx, "incident.deleted", record, { update, notify: true, actor });
  }
}
