/*
 * Incidents that outages open, join, reopen and resolve. The engine of monitors calls these verbs in the transaction of
 * a transition.
 */
import { type Actor, SYSTEM_ACTOR } from "../../base/actor";
import { conflict } from "../../base/errors";
import { type ComponentStatus, IMPACTS, type OnDown, worstStatus } from "../../base/status";
import { codePointLength, withoutUnsafeCharacters } from "../../base/text";
import { NAME_MAX } from "../../base/texts";
import { composed, FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { replaceCausesOfComponent } from "../components/statuses";
import { findComponents } from "../components/store";
import type { Words } from "../../languages/words";
import { touchPage, wordsForPage } from "../pages/pages";
import { NAMED_COMPONENTS_MAX, UPDATES_MAX } from "../timeline/updates";
import {
  addAutomaticUpdate,
  displayTime,
  isStillAutomatic,
  listInWords,
  planWaitingUpdate,
  resolveIfOver,
  writeWaitingUpdate,
} from "./automatic-updates";
import { createIncident } from "./incidents";
import {
  type AutomaticRow,
  countOutages,
  deleteOutages,
  endOutage,
  findAutomatic,
  findCoveringOutage,
  findLastWritten,
  findSimilarOutage,
  getAutomatic,
  insertAutomatic,
  listJoinedOfComponent,
  listOpenOutagesOf,
  listTitleComponents,
  moveOutages,
  type OutageRow,
  readOutages,
  reopenOutage,
  saveAutomatic,
  saveOutage,
} from "./outage-store";
import {
  getIncident,
  getIncidentRow,
  getIncidentWithUpdates,
  type IncidentRecord,
  listUpdateSummaries,
} from "./records";
import { causesOfOutages, impactOf } from "./rules";
import { prepareUpdate, saveIncident, writeUpdate } from "./save";
import { deleteUpdates, findIncident, type IncidentRow, updateIncidentRow } from "./store";
import type { CreateIncidentBody, SplitOffBody } from "./wire";

/** Maximum number of outages, counted by component, that join one incident. */
const OUTAGES_MAX = 5_000;

/** Outage of a monitor that goes down, with its components of one page. */
export interface Outage {
  monitorId: string;
  componentIds: readonly string[];
  /** Status of the components. */
  status: OnDown;
  /** Unix ms. */
  startedAt: number;
}

/** Returns true if an incident can take further outages without exceeding their limit. */
export function hasRoomForOutages(tx: Tx, incidentId: string, added: number): boolean {
  return (countOutages(tx, { incidentId })?.count ?? 0) + added <= OUTAGES_MAX;
}

/** Returns true if an incident has room for one more update, whether or not that resolves it. */
export function hasRoomForUpdate(reader: Reader, incidentId: string): boolean {
  return (findLastWritten(reader, { incidentId })?.count ?? 0) < UPDATES_MAX;
}

/** Opens an incident, or a draft, for an outage. `body` is the text of its first update. */
export function openAutomatic(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  outage: Outage,
  { isDraft, body }: { isDraft: boolean; body: string },
): void {
  const { componentIds, status, startedAt } = outage;
  const start = displayTime(ctx, startedAt).display_at;
  const { row } = createIncident(
    ctx,
    tx,
    composed<CreateIncidentBody>({
      page: pageId,
      name: titleOf(wordsForPage(tx, pageId), {
        names: namesOf(tx, componentIds),
        count: componentIds.length,
        worst: status,
      }),
      body,
      components: Object.fromEntries(componentIds.map((id) => [id, status])),
      draft: isDraft,
      ...(start !== undefined && { started_at: start }),
    }),
    "monitor",
    SYSTEM_ACTOR,
  );
  insertAutomatic(tx, {
    incidentId: row.id,
    pageId,
    name: row.name,
    startedAt: row.startedAt,
    openedAt: ctx.clock.now(),
    resolvedAt: null,
    takenOverAt: null,
    updateDueAt: null,
  });
  writeOutage(tx, row.id, { ...outage, startedAt: row.startedAt }, "joined");
}

/** Adds an outage to an incident that Allclear opened. Its causes change at once, its updates later. */
export function joinAutomatic(ctx: Ctx, tx: Tx, incidentId: string, outage: Outage): void {
  const { row } = getIncidentRow(tx, incidentId, true);
  const before = getAutomatic(tx, incidentId);
  const { componentIds, status } = outage;
  const isNew = isFurther(tx, incidentId, outage);
  const changed = componentIds.filter((id) => isUncovered(tx, incidentId, outage, id));
  const hasRoom = hasRoomForOutages(tx, incidentId, componentIds.length);
  writeOutage(tx, incidentId, outage, hasRoom ? "joined" : "continued");
  if (changed.length === 0 && outage.startedAt >= row.startedAt) return;
  const startedAt = Math.min(row.startedAt, outage.startedAt);
  const saved = saveFacts(ctx, tx, row, before, { startedAt, worst: isNew ? status : undefined });
  for (const componentId of changed) refreshCauses(ctx, tx, saved.row, componentId);
  const lastUpdateAt = findLastWritten(tx, { incidentId })?.at ?? row.createdAt;
  if (changed.length > 0)
    planWaitingUpdate(ctx, tx, saved.automatic, { isSoon: true, lastUpdateAt });
}

/** Returns true if an outage is the first of a component in an incident, or the first with so bad a status. */
function isFurther(tx: Tx, incidentId: string, { componentIds, status }: Outage): boolean {
  return componentIds.some(
    (componentId) => !findSimilarOutage(tx, { incidentId, componentId, status }),
  );
}

/** Links an outage to an incident of a person, which reports it already. Nothing else changes. */
export function linkOutage(tx: Tx, incidentId: string, outage: Outage): void {
  writeOutage(tx, incidentId, outage, "linked");
}

/** Reopens an incident with an update that names the components of an outage. */
export function reopenAutomatic(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  outage: Outage,
  body: string,
): void {
  const before = getAutomatic(tx, incidentId);
  const { row } = getIncidentRow(tx, incidentId, true);
  const worst = isFurther(tx, incidentId, outage) ? outage.status : undefined;
  writeOutage(tx, incidentId, outage, "joined");
  const after = { openedAt: ctx.clock.now(), resolvedAt: null };
  saveFacts(ctx, tx, row, { ...before, ...after }, { startedAt: row.startedAt, worst });
  const newest = listUpdateSummaries(tx, incidentId)[0]?.displayAt ?? row.startedAt;
  const input = {
    status: "investigating" as const,
    body,
    components: Object.fromEntries(outage.componentIds.map((id) => [id, outage.status])),
    ...displayTime(ctx, Math.max(outage.startedAt, newest)),
  };
  addAutomaticUpdate(ctx, tx, incidentId, input);
}

/** Moves an unchanged draft to another outage, so that publishing it does not affect earlier history. */
export function moveDraft(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  outage: Outage,
  body: string,
): void {
  const incident = getIncidentWithUpdates(tx, incidentId, true);
  const automatic = getAutomatic(tx, incidentId);
  const startedAt = Math.min(outage.startedAt, ctx.clock.now());
  const { componentIds, status } = outage;
  const input = { body, components: Object.fromEntries(componentIds.map((id) => [id, status])) };
  deleteUpdates(tx, { incidentId });
  deleteOutages(tx, { incidentId });
  writeOutage(tx, incidentId, { ...outage, startedAt }, "joined");
  const { update } = prepareUpdate(ctx, tx, incidentId, input, true);
  const moved = { ...update, status: "investigating" as const, displayAt: startedAt };
  writeUpdate(tx, moved);
  const name = titleOfIncident(tx, incident.row);
  saveAutomatic(tx, {
    ...automatic,
    name,
    startedAt,
    openedAt: ctx.clock.now(),
    updateDueAt: null,
  });
  const change = {
    before: incident,
    row: { ...incident.row, name, nameLang: wordsForPage(tx, incident.row.pageId).lang, startedAt },
    updates: [moved],
    input: {},
  };
  const { row } = saveIncident(ctx, tx, change, SYSTEM_ACTOR, undefined);
  const summary = `Moved the draft “${row.name}” to another outage`;
  audit(ctx, tx, SYSTEM_ACTOR, "incident.add_update", incidentId, summary);
}

/** End of outages of a monitor, in unix ms. */
interface OutageEnd {
  at: number;
  /** True if the monitor leaves its incidents without a recovery. */
  hasLeft: boolean;
}

/**
 * Ends open outages of a monitor that `isEnding` selects. A recovery resolves the incidents that are Allclear's and
 * have no further open outage; drafts are never resolved.
 */
export function endOutages(
  ctx: Ctx,
  tx: Tx,
  monitorId: string,
  { at, hasLeft }: OutageEnd,
  isEnding: (outage: OutageRow) => boolean = () => true,
): void {
  const ending = listOpenOutagesOf(tx, { monitorId })
    .map(({ outage }) => outage)
    .filter(isEnding);
  for (const outage of ending) endOutage(tx, { ...outage, endedAt: at, hasLeft });
  for (const [incidentId, ended] of Map.groupBy(ending, (outage) => outage.incidentId)) {
    const incident = findIncident(tx, { id: incidentId });
    if (!incident || !isStillAutomatic(tx, incident.row)) continue;
    const changed = ended.filter(
      (outage) =>
        outage.kind === "joined" &&
        isUncovered(tx, incidentId, { ...outage, startedAt: at }, outage.componentId),
    );
    if (changed.length > 0) {
      const automatic = getAutomatic(tx, incidentId);
      const { startedAt } = incident.row;
      const { row } = saveFacts(ctx, tx, incident.row, automatic, { startedAt, worst: undefined });
      for (const { componentId } of changed) refreshCauses(ctx, tx, row, componentId);
      const lastUpdateAt = findLastWritten(tx, { incidentId })?.at ?? row.createdAt;
      planWaitingUpdate(ctx, tx, automatic, { isSoon: false, lastUpdateAt });
    }
    if (!hasLeft) resolveIfOver(ctx, tx, incidentId);
  }
}

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
  input: Valid<SplitOffBody>,
  actor: Actor,
): IncidentRecord {
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
  const words = wordsForPage(tx, row.pageId);
  const start = displayTime(ctx, startedAt).display_at;
  const created = createIncident(
    ctx,
    tx,
    composed<CreateIncidentBody>({
      page: row.pageId,
      name: titleOf(words, {
        names: [...names.values()],
        count: names.size,
        worst: worst as OnDown,
      }),
      body: words.t("written.failing"),
      components: Object.fromEntries([...present].slice(0, NAMED_COMPONENTS_MAX)),
      draft: row.draft,
      ...(start !== undefined && { started_at: start }),
      ...(input.notify !== undefined && { notify: input.notify }),
    }),
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
  writeWaitingUpdate(ctx, tx, oldRow, {
    notify: false,
    moved: findComponents(tx, [...componentIds]),
  });
  const summary = `Split the outages of ${chosen.size} monitors off the incident “${oldRow.name}”: “${newRow.name}”`;
  audit(ctx, tx, actor, "incident.split_off", incidentId, summary);
  return getIncident(tx, created.id, true);
}

/**
 * Writes the title, start and impact that follow from the outages of an incident, with its next version. `worst` is the
 * status of further components; undefined if there are none, so that title and impact stay.
 */
function saveFacts(
  ctx: Ctx,
  tx: Tx,
  before: IncidentRow,
  automatic: AutomaticRow,
  { startedAt, worst }: { startedAt: number; worst: ComponentStatus | undefined },
): { row: IncidentRow; automatic: AutomaticRow } {
  // A person has renamed an incident that has another name than the last automatic one.
  const isRenamed = before.name !== automatic.name;
  const name = isRenamed || worst === undefined ? automatic.name : titleOfIncident(tx, before);
  const impacts = [before.impact, impactOf(worst ? [worst] : [], before.impactOverride)];
  const isSame = name === before.name;
  const row: IncidentRow = {
    ...before,
    name: isRenamed ? before.name : name,
    nameLang: isRenamed || isSame ? before.nameLang : wordsForPage(tx, before.pageId).lang,
    startedAt,
    impact: IMPACTS.findLast((impact) => impacts.includes(impact)) ?? before.impact,
    version: before.version + 1,
    updatedAt: ctx.clock.now(),
  };
  updateIncidentRow(tx, row);
  const after = { ...automatic, name, startedAt };
  saveAutomatic(tx, after);
  if (!row.draft) touchPage(ctx, tx, row.pageId);
  return { row, automatic: after };
}

/** Writes the causes that the outages of an incident give a component. A draft has none. */
function refreshCauses(ctx: Ctx, tx: Tx, row: IncidentRow, componentId: string): void {
  if (row.draft) return;
  const outages = listJoinedOfComponent(tx, { incidentId: row.id, componentId });
  const reason = { source: "incident", actor: SYSTEM_ACTOR, reason: row.name } as const;
  const causes = causesOfOutages(outages);
  replaceCausesOfComponent(ctx, tx, row.id, componentId, causes, reason);
}

/** Returns true if no other open outage already gives a component the status of this one when this one starts or ends. */
function isUncovered(
  tx: Tx,
  incidentId: string,
  { monitorId, status, startedAt }: Pick<Outage, "monitorId" | "status" | "startedAt">,
  componentId: string,
): boolean {
  const other = { incidentId, componentId, monitorId, status, at: startedAt };
  return findCoveringOutage(tx, other) === undefined;
}

/** Writes the rows of an outage. A linked or continued one opens the last row of the same monitor again. */
function writeOutage(
  tx: Tx,
  incidentId: string,
  { componentIds, monitorId, status, startedAt }: Outage,
  as: OutageRow["kind"] | "continued",
): void {
  const kind = as === "linked" ? "linked" : "joined";
  for (const componentId of componentIds) {
    const of = { incidentId, componentId, monitorId, kind } as const;
    if (as !== "joined" && reopenOutage(tx, of) > 0) continue;
    // One that began at the same time goes on.
    saveOutage(tx, { ...of, startedAt, endedAt: null, status, hasLeft: false });
  }
}

/** Returns the title of an incident from the components that joined it. */
function titleOfIncident(tx: Tx, { id, pageId }: Pick<IncidentRow, "id" | "pageId">): string {
  const components = listTitleComponents(tx, { incidentId: id, limit: TITLE_NAMES });
  const worst = Math.max(...components.map(({ badness }) => badness));
  return titleOf(wordsForPage(tx, pageId), {
    names: components.map(({ name }) => name),
    count: components[0]?.count ?? 0,
    worst: worst === 3 ? "major_outage" : worst === 2 ? "partial_outage" : "degraded_performance",
  });
}

/** Number of components that a title names; of more it names one less. */
const TITLE_NAMES = 3;

/** Returns a title from the names of the first components, the number of all, and the worst status. */
function titleOf(
  words: Words,
  { names, count, worst }: { names: readonly string[]; count: number; worst: OnDown },
): string {
  const { t } = words;
  if (count > 1) {
    const all = listInWords(words, names, TITLE_NAMES, count);
    return cut(t("written.title.several", { names: all }), NAME_MAX);
  }
  const key = `written.title.${worst}` as const;
  const left = NAME_MAX - codePointLength(t(key, { name: "" }));
  return t(key, { name: cut(names[0] ?? "", left) });
}

/** Returns the names of the components that a title names. */
function namesOf(tx: Tx, componentIds: readonly string[]): string[] {
  const rows = findComponents(tx, componentIds.slice(0, TITLE_NAMES));
  return [...rows.values()].map(({ name }) => name);
}

/** Returns at most `length` code points of a text, without characters that names must not have. */
function cut(text: string, length: number): string {
  return [...withoutUnsafeCharacters(text)].slice(0, length).join("").trimEnd();
}
