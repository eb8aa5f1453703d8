import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { conflict } from "../../errors/problem";
import { FieldErrors } from "../../errors/field-errors";
import { audit } from "../../events/audit";
import type { OutboxEvent } from "../../events/outbox";
import type { Actor } from "../../domain/actor";
import type { ComponentStatus } from "../../domain/component-status";
import type { IncidentStatus } from "../../domain/incident-status";
import {
  existenceProblem,
  resolveComponents,
  type ResolvedComponent,
} from "../components/component-reference";
import { toMs, UPDATES_MAX } from "../timeline/updates";
import type { AddUpdateBody } from "./bodies";
import {
  getIncidentRow,
  type IncidentWithPage,
  listUpdateSummaries,
  type UpdateRecord,
  type UpdateSummary,
} from "./records";
import { exceededLimit, isResolving } from "./rules";
import { saveIncident, validateDisplayAt } from "./save-incident";
import { type IncidentRow, insertNamings, insertUpdate, type NamingRow } from "./store";

/** An update and its incident. */
export interface UpdateOfIncident {
  row: IncidentRow;
  update: UpdateRecord;
}

/** Monitors of an update that Allclear writes, with the pages of their events. */
export type UpdateMonitors = NonNullable<OutboxEvent["monitors"]>;

/** An update that can be written, with its incident before it. */
interface PreparedUpdate {
  incident: IncidentWithPage & { updates: readonly UpdateSummary[] };
  update: UpdateRecord;
}

/**
 * Builds an update from a valid body. Throws `not_found`, `validation_failed` with every invalid field, or `conflict`
 * for an incident that has no room for the update, unless the update resolves it or Allclear writes it.
 */
export function prepareUpdate(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  input: AddUpdateBody,
  isAutomatic: boolean,
): PreparedUpdate {
  const incidentWithPage = getIncidentRow(tx, incidentId, true);
  const { row } = incidentWithPage;
  const updates = listUpdateSummaries(tx, incidentId);
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const displayAt =
    input.display_at === undefined ? timeAfterAll(row, updates, now) : toMs(input.display_at);
  if (input.display_at !== undefined) validateDisplayAt(errors, displayAt, row.startedAt, now);
  const status = input.status ?? statusAt(updates, displayAt) ?? row.status;
  const effect = { status, displayAt, isAutomatic };
  const update = buildUpdate(ctx, tx, errors, row, input, effect);
  errors.throwIfAny();
  if (!isAutomatic) requireRoom(updates, update);
  return { incident: { ...incidentWithPage, updates }, update };
}

/** Writes a prepared update. `monitors` are those that it is about, if Allclear writes it. */
export function appendUpdate(
  ctx: Ctx,
  tx: Tx,
  { incident, update }: PreparedUpdate,
  input: AddUpdateBody,
  actor: Actor,
  monitors?: UpdateMonitors,
): UpdateOfIncident {
  writeUpdate(tx, update);
  const row = saveIncident(ctx, tx, {
    before: incident,
    updates: [...incident.updates, update],
    input,
    actor,
    event: { update, notify: update.notify, isNews: true, ...(monitors && { monitors }) },
  });
  const summary = `Updated the incident “${row.name}”: ${update.status}`;
  audit(ctx, tx, actor, "incident.add_update", row.id, summary);
  return { row, update };
}

/**
 * Builds an update of an incident from the fields of a body. It names components with their present
 * names and statuses, ordered by id. Adds the errors of `resolveNamedComponents`.
 */
export function buildUpdate(
  ctx: Ctx,
  reader: Reader,
  errors: FieldErrors,
  incident: { id: string; pageId: string | undefined },
  input: Pick<AddUpdateBody, "body" | "components" | "notify">,
  effect: Pick<UpdateRecord, "displayAt" | "isAutomatic"> & { status: IncidentStatus },
): UpdateRecord {
  const { body, components: statuses = {}, notify = true } = input;
  const now = ctx.clock.now();
  const ids = { updateId: ctx.newId("upd"), incidentId: incident.id };
  const components: NamingRow[] = [];
  for (const { reference, row } of resolveNamedComponents(
    reader,
    errors,
    incident.pageId,
    statuses,
  )) {
    const newStatus = statuses[reference];
    if (!row || !newStatus) continue;
    const { id: componentId, name, status: oldStatus } = row;
    components.push({ ...ids, componentId, name, oldStatus, newStatus });
  }
  components.sort((one, other) => (one.componentId < other.componentId ? -1 : 1));
  const { updateId: id, incidentId } = ids;
  const times = { createdAt: now, updatedAt: now };
  return { id, incidentId, ...effect, body, notify, ...times, components };
}

/**
 * Returns the components that the field `components` of a body names. Adds an error for each reference to
 * an unknown component, to one of another page, or to one that an earlier reference names. Every page's
 * components are allowed if `pageId` is undefined.
 */
export function resolveNamedComponents(
  reader: Reader,
  errors: FieldErrors,
  pageId: string | undefined,
  statuses: Readonly<Record<string, ComponentStatus>> = {},
): ResolvedComponent[] {
  return resolveComponents(
    reader,
    Object.keys(statuses),
    errors,
    (reference) => ["components", reference],
    (row) => {
      const isElsewhere = row && pageId !== undefined && row.pageId !== pageId;
      return isElsewhere ? "is a component of another page" : existenceProblem(row);
    },
  );
}

/** Writes an update with the statuses of components. */
export function writeUpdate(tx: Tx, { components, ...update }: UpdateRecord): void {
  insertUpdate(tx, update);
  insertNamings(tx, components);
}

/** Throws `conflict` if an incident is full, unless the update resolves it. */
function requireRoom(summaries: readonly UpdateSummary[], update: UpdateRecord): void {
  const exceeded = exceededLimit(summaries, update.components.length);
  if (exceeded === undefined || isResolving(summaries, update)) return;
  throw conflict(`${LIMITS[exceeded]} Resolve it, or open a new incident for what follows.`);
}

/** Throws `conflict` if a resolved incident is full: once it is open, the update that resolves it is one more. */
export function requireRoomToReopen(summaries: readonly UpdateSummary[]): void {
  const exceeded = exceededLimit(summaries, 1);
  if (exceeded === undefined) return;
  throw conflict(`${LIMITS[exceeded]} It cannot be reopened: open a new incident.`);
}

const LIMITS = {
  updates: `The incident has ${UPDATES_MAX} updates, the most that it can have.`,
  components: "The updates of the incident name as many components as they can.",
};

/**
 * Returns the time of a new update: now, or just after the newest update if that is later, since a
 * clock was set back or the clock of a client is ahead.
 */
function timeAfterAll(row: IncidentRow, summaries: readonly UpdateSummary[], now: number): number {
  const newest = summaries[0]?.displayAt ?? row.startedAt;
  return now >= newest ? Math.max(now, row.startedAt) : Math.max(newest + 1, row.startedAt);
}

/** Returns the status that an incident had at a time. `summaries` are ordered newest first. */
function statusAt(summaries: readonly UpdateSummary[], at: number) {
  return summaries.find(({ displayAt }) => displayAt <= at)?.status;
}
