import type { Ctx } from "../../context";
import { type Static, Type } from "@sinclair/typebox";
import type { Tx } from "../../db/statements";
import { conflict } from "../../errors/problem";
import { FieldErrors } from "../../errors/field-errors";
import { validate } from "../../errors/examine";
import { audit } from "../../events/audit";
import type { Actor } from "../../domain/actor";
import { type ComponentStatus, worstStatus } from "../../domain/component-status";
import type { OnDown } from "../../domain/monitor-state";
import { NAMED_COMPONENTS_MAX, Notify } from "../timeline/updates";
import { findComponents } from "../components/store";
import { refreshCauses, saveFacts, titleOf } from "./automatic";
import { createIncident } from "./create";
import { findAutomatic, insertAutomatic, moveOutages } from "./outage-store";
import { readOutages } from "./outage-view";
import { getIncident, getIncidentRow, type IncidentRecord } from "./records";
import { causesOfOutages } from "./rules";
import { displayTime, writeWords } from "./words";

export const SplitOffBody = Type.Object(
  {
    monitors: Type.Array(Type.String({ maxLength: 100 }), {
      minItems: 1,
      maxItems: 1_000,
      uniqueItems: true,
      description: "Ids of the monitors whose outages become an incident of their own.",
    }),
    notify: Type.Optional(Notify),
  },
  { additionalProperties: false },
);
export type SplitOffBody = Static<typeof SplitOffBody>;

/**
 * Opens a new incident for the outages of some monitors of an incident that Allclear opened, which is a draft if that
 * one is. Causes keep their dates. The incident that they leave says so without notifying people. Both stay Allclear's.
 *
 * Throws `not_found`, `validation_failed` with each monitor that has no open outage in the incident, or `conflict` for
 * an incident that is resolved or a person's, and if no monitor that fails would stay.
 */
export function splitOff(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  input: SplitOffBody,
  actor: Actor,
): IncidentRecord {
  validate(SplitOffBody, input);
  const { row } = getIncidentRow(tx, incidentId, true);
  const automatic = findAutomatic(tx, { incidentId });
  if (automatic?.takenOverAt !== null) {
    throw conflict("Only an incident that Allclear opened and no one has taken over can be split.");
  }
  if (row.status === "resolved") throw conflict("The incident is resolved, so it cannot be split.");
  const { outages, failingMonitorIds } = readOutages(tx, row);
  const failing = new Set(failingMonitorIds);
  const errors = new FieldErrors();
  for (const [index, id] of input.monitors.entries()) {
    if (!failing.has(id)) errors.add(["monitors", index], "has no open outage in this incident");
  }
  errors.throwIfAny();
  const chosen = new Set(input.monitors);
  if (chosen.size === failing.size) {
    throw conflict("At least one monitor that fails must stay in the incident.");
  }
  const moving = outages.filter(({ outage }) => chosen.has(outage.monitorId));
  const moved = moving.map(({ outage }) => outage);
  const startedAt = Math.min(...moved.map((outage) => outage.startedAt));
  const present = new Map<string, ComponentStatus>();
  for (const { componentId, status, to } of causesOfOutages(moved)) {
    if (to === null) present.set(componentId, status);
  }
  for (const { outage, isComponentDeleted } of moving) {
    if (isComponentDeleted === 1) present.delete(outage.componentId);
  }
  const names = new Map(
    moving
      .toSorted((one, other) => one.componentPosition - other.componentPosition)
      .map(({ outage, componentName }) => [outage.componentId, componentName]),
  );
  const worst = worstStatus(moved.map(({ status }) => status));
  const start = displayTime(ctx, startedAt).display_at;
  const created = createIncident(
    ctx,
    tx,
    {
      page: row.pageId,
      name: titleOf({ names: [...names.values()], count: names.size, worst: worst as OnDown }),
      body: "Automatic checks are failing.",
      components: Object.fromEntries([...present].slice(0, NAMED_COMPONENTS_MAX)),
      draft: row.draft,
      ...(start !== undefined && { started_at: start }),
      ...(input.notify !== undefined && { notify: input.notify }),
    },
    "monitor",
    actor,
  ).row;
  moveOutages(tx, {
    from: incidentId,
    to: created.id,
    monitorIds: JSON.stringify(input.monitors),
  });
  const componentIds = new Set(moved.map(({ componentId }) => componentId));
  const own = {
    incidentId: created.id,
    pageId: row.pageId,
    name: created.name,
    startedAt: created.startedAt,
    // Further outages join as if it had been opened with the other one.
    openedAt: automatic.openedAt,
    resolvedAt: null,
    takenOverAt: null,
    updateDueAt: null,
  };
  insertAutomatic(tx, own);
  const newRow = saveFacts(ctx, tx, created, own, { startedAt: created.startedAt, worst }).row;
  const before = { startedAt: row.startedAt, worst: "operational" } as const;
  const oldRow = saveFacts(ctx, tx, row, automatic, before).row;
  for (const componentId of componentIds) {
    refreshCauses(ctx, tx, newRow, componentId);
    refreshCauses(ctx, tx, oldRow, componentId);
  }
  writeWords(ctx, tx, oldRow, { notify: false, moved: findComponents(tx, [...componentIds]) });
  const summary = `Split the outages of ${chosen.size} monitors off the incident “${oldRow.name}”: “${newRow.name}”`;
  audit(ctx, tx, actor, "incident.split_off", incidentId, summary);
  return getIncident(tx, created.id, true);
}
