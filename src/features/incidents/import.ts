/* Writes whole incidents of other products, past ones included. `incidents.ts` has the verbs of people and keys. */
import type { Actor } from "../../base/actor";
import type { ComponentStatus } from "../../base/status";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { findComponents } from "../components/store";
import { getPage } from "../pages/pages";
import { isInFuture, toMs } from "../timeline/updates";
import { namedStatuses, requireFreeRef } from "./incidents";
import { getIncidentRow, type UpdateRecord } from "./records";
import { componentsOf, impactOf, timelineOf } from "./rules";
import { NEW_INCIDENT, publish, writeUpdate } from "./save";
import { deleteUpdates, type IncidentRow, insertIncident, updateIncidentRow } from "./store";
import type { ImportIncidentBody } from "./wire";

/**
 * Records an incident of another product with all of its updates, without notifying people. `id` is that of an
 * incident which an earlier import recorded: its updates are replaced. Components are named by their ids; those that
 * are deleted or on another page are left out. Updates from before its start take effect at its start.
 *
 * Throws `not_found`, `validation_failed`, or `conflict` for an `external_ref` that another incident of the page has.
 */
export function importIncident(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  input: Valid<ImportIncidentBody>,
  actor: Actor,
  id?: string,
): IncidentRow {
  const before = id === undefined ? undefined : getIncidentRow(tx, id, true).row;
  const incidentId = before?.id ?? ctx.newId("inc");
  requirePast(input, ctx.clock.now());
  const startedAt = toMs(input.started_at);
  const updates = readUpdates(ctx, tx, input, { incidentId, pageId, startedAt });
  const timeline = timelineOf({ startedAt, draft: false }, updates, undefined);
  const { status, identifiedAt, monitoringAt, resolvedAt, causes } = timeline;
  const { postmortem } = input;
  const publishedAt = postmortem && toMs(postmortem.published_at);
  const times = updates.map(({ displayAt }) => displayAt);
  const row: IncidentRow = {
    // What another product does not know of stays as it is here.
    ...(before ?? NEW_INCIDENT),
    draft: false,
    id: incidentId,
    pageId,
    name: input.name,
    nameLang: null,
    status,
    impact: impactOf(namedStatuses(updates), input.impact_override),
    impactOverride: input.impact_override,
    source: "import",
    externalRef: input.external_ref,
    startedAt,
    identifiedAt,
    monitoringAt,
    resolvedAt,
    postmortemBody: postmortem?.body ?? null,
    postmortemPublishedAt: publishedAt,
    postmortemFirstPublishedAt: publishedAt,
    version: (before?.version ?? 0) + 1,
    createdAt: before?.createdAt ?? Math.min(startedAt, ...times),
    updatedAt: Math.max(startedAt, publishedAt ?? 0, ...times),
  };
  requireFreeRef(tx, row, true);
  if (before) {
    deleteUpdates(tx, { incidentId });
    updateIncidentRow(tx, row);
  } else insertIncident(tx, row);
  for (const update of updates) writeUpdate(tx, update);
  const [type, action, verb] = before
    ? (["incident.updated", "incident.update", "Changed"] as const)
    : (["incident.created", "incident.create", "Wrote down"] as const);
  audit(ctx, tx, actor, action, incidentId, `${verb} the incident “${row.name}”`);
  const components = componentsOf(timeline, updates, undefined);
  const event = { type, update: updates.at(-1), notify: false };
  publish(ctx, tx, { row, page: getPage(tx, pageId), components }, actor, { event, causes });
  return row;
}

/** Throws `validation_failed` for times in the future. `now` is in unix ms. */
function requirePast({ started_at, updates }: ImportIncidentBody, now: number): void {
  const errors = new FieldErrors();
  if (isInFuture(toMs(started_at), now)) errors.add(["started_at"], "is in the future");
  for (const [index, { display_at }] of updates.entries()) {
    if (isInFuture(toMs(display_at), now)) {
      errors.add(["updates", index, "display_at"], "is in the future");
    }
  }
  errors.throwIfAny();
}

/** Returns the updates with new ids, in their order. Statuses are those that earlier updates left. */
function readUpdates(
  ctx: Ctx,
  tx: Tx,
  { updates }: ImportIncidentBody,
  {
    incidentId,
    pageId,
    startedAt,
  }: Record<"incidentId" | "pageId", string> & { startedAt: number },
): UpdateRecord[] {
  const living = findComponents(
    tx,
    updates.flatMap(({ components }) => Object.keys(components)),
  );
  const last = new Map<string, ComponentStatus>();
  return updates.map(({ status, body, display_at, components }, index) => {
    const id = ctx.newId("upd");
    const at = toMs(display_at);
    const displayAt = index === 0 ? at : Math.max(at, startedAt);
    const named = Object.entries(components).flatMap(([componentId, newStatus]) => {
      const component = living.get(componentId);
      if (component?.pageId !== pageId) return [];
      const { name } = component;
      const oldStatus = last.get(componentId) ?? "operational";
      last.set(componentId, newStatus);
      return [{ updateId: id, incidentId, componentId, name, oldStatus, newStatus }];
    });
    const times = { displayAt, createdAt: displayAt, updatedAt: displayAt };
    return {
      id,
      incidentId,
      status,
      body,
      notify: false,
      isAutomatic: false,
      lang: null,
      ...times,
      components: named,
    };
  });
}
