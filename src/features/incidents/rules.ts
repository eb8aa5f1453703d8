/*
 * What follows from the updates and outages of an incident: `timelineOf` computes its status, times, causes and
 * components, `incidentAfter` its row after a change. Limits and possible times are judged here, too.
 */
import {
  type ComponentStatus,
  type Impact,
  type IncidentStatus,
  worstStatus,
} from "../../base/status";
import type { FieldErrors } from "../../base/validation";
import type { ComponentCause } from "../components/statuses";
import { isInFuture, NAMED_COMPONENTS_MAX, UPDATES_MAX } from "../timeline/updates";
import type { IncidentRow } from "./store";

/**
 * Effect of a person's change of a column on an incident that Allclear opened: it becomes the person's, or it stays
 * Allclear's and a draft of it is kept. Null for columns that follow from others.
 */
const CHANGED_BY_PERSON = {
  id: null,
  pageId: null,
  name: "kept",
  status: null,
  impact: null,
  impactOverride: "taken over",
  source: null,
  draft: null,
  externalRef: "kept",
  startedAt: "taken over",
  identifiedAt: "taken over",
  monitoringAt: "taken over",
  resolvedAt: "taken over",
  postmortemBody: "kept",
  postmortemPublishedAt: null,
  postmortemFirstPublishedAt: null,
  version: null,
  createdAt: null,
  updatedAt: null,
  deletedAt: null,
  nameLang: null,
} as const satisfies Record<keyof IncidentRow, "taken over" | "kept" | null>;

/** Returns the columns whose change by a person has the effect. */
export function columnsChanged(effect: "taken over" | "kept"): (keyof IncidentRow)[] {
  const columns = Object.keys(CHANGED_BY_PERSON) as (keyof IncidentRow)[];
  return columns.filter((column) => CHANGED_BY_PERSON[column] === effect);
}

/** Properties of an update that its incident is computed from. Times in unix ms. */
export interface UpdateFacts {
  /** Ids sort by the time of writing. */
  id: string;
  status: IncidentStatus;
  displayAt: number;
  components: readonly { componentId: string; newStatus: ComponentStatus }[];
  /** True if Allclear wrote it about outages, which then give the statuses. */
  isAutomatic?: boolean;
}

/** Outage of a component that joined an incident. Unix ms; open without an end. */
export interface JoinedOutage {
  componentId: string;
  name: string;
  /** 1 if the component was deleted; else 0. */
  isDeleted: number;
  status: ComponentStatus;
  startedAt: number;
  endedAt: number | null;
}

/** Properties that an incident opened by Allclear is computed from, apart from its updates. */
export interface Automation {
  /** Start of its outages in unix ms, which a start set by hand replaces. */
  startedAt: number;
  /** Time at which a person or a key took it over, in unix ms. */
  takenOverAt: number | null;
  outages: readonly JoinedOutage[];
}

/** State of an incident, computed from its updates. Times in unix ms. */
interface Timeline {
  status: IncidentStatus;
  /** Time at which it first had the status; null if never. */
  identifiedAt: number | null;
  monitoringAt: number | null;
  /** Time of the last resolution by its updates; null while it is open. */
  resolvedAt: number | null;
  causes: ComponentCause[];
  /** Status of each named component: current, or last before the resolution. */
  components: ReadonlyMap<string, ComponentStatus>;
}

/**
 * Computes an incident from its updates. Statuses of the first update apply from the start of the
 * incident, those of others from their own time. Resolving ends all causes, at `resolvedAt` if that was
 * set by hand. Reopening restores the ended causes, unless the update names components. Components
 * named while the incident is resolved get no cause. A draft has no causes.
 *
 * `automation` is that of an incident which Allclear opened: its outages give the causes until it is taken over. A
 * component that fails then keeps its status until a later update or the resolution.
 */
export function timelineOf(
  incident: { startedAt: number; draft: boolean; resolvedAt?: number | null },
  updates: readonly UpdateFacts[],
  automation: Automation | undefined,
): Timeline {
  const { startedAt } = incident;
  const ordered = inOrder(updates);
  let status: IncidentStatus = "investigating";
  let resolvedAt: number | null = null;
  const since = new Map<IncidentStatus, number>();
  for (const update of ordered) {
    const at = Math.max(update.displayAt, startedAt);
    if (status === "resolved" && update.status !== "resolved") resolvedAt = null;
    else if (status !== "resolved" && update.status === "resolved") resolvedAt = at;
    status = update.status;
    if (!since.has(status)) since.set(status, at);
  }
  const endedAt = incident.resolvedAt ?? resolvedAt;
  const named = causesByUpdates(startedAt, updates);
  const causes = automation
    ? causesWithOutages(
        { startedAt, endedAt, isEndByHand: endedAt !== resolvedAt },
        ordered,
        automation,
      )
    : named.finish(endedAt);
  const components = automation
    ? statusesWithOutages(named.lastStatuses, automation, status === "resolved")
    : named.lastStatuses;
  return {
    status,
    identifiedAt: since.get("identified") ?? null,
    monitoringAt: since.get("monitoring") ?? null,
    resolvedAt,
    causes: incident.draft ? [] : causes,
    components,
  };
}

/** Returns the causes and the last statuses that follow from updates alone. */
export function causesByUpdates(startedAt: number, updates: readonly UpdateFacts[]): CauseBuilder {
  const first = firstWritten(updates);
  const causes = new CauseBuilder();
  for (const { componentId, newStatus } of first?.components ?? []) {
    causes.add(componentId, newStatus, startedAt);
  }
  causes.follow(inOrder(updates), startedAt, (update) =>
    update === first ? [] : update.components,
  );
  return causes;
}

/** Start and end of an incident, in unix ms; the end is null while it is open. */
interface Bounds {
  startedAt: number;
  endedAt: number | null;
  /** True if the end was set by hand. */
  isEndByHand: boolean;
}

/**
 * Returns the causes of an incident that Allclear opened. Outages are dated by their monitors, except that times
 * of the incident set by hand move its first start and its last end. `updates` are in order.
 */
function causesWithOutages(
  { startedAt, endedAt, isEndByHand }: Bounds,
  updates: readonly UpdateFacts[],
  { startedAt: firstFrom, takenOverAt, outages }: Automation,
): ComponentCause[] {
  const spans = causesOfOutages(outages);
  const automatic = updates.filter(({ isAutomatic }) => isAutomatic === true);
  const wasResolved = automatic.at(-1)?.status === "resolved";
  const latest = Math.max(...spans.map(({ to }) => to ?? Number.POSITIVE_INFINITY));
  const limit = Math.min(
    endedAt ?? Number.POSITIVE_INFINITY,
    takenOverAt ?? Number.POSITIVE_INFINITY,
  );
  const dated = spans.map(({ from, to, ...cause }) => {
    const isLast = wasResolved && isEndByHand && to === latest;
    const end = isLast ? endedAt : Math.min(to ?? Number.POSITIVE_INFINITY, limit);
    return {
      ...cause,
      from: from === firstFrom ? startedAt : Math.max(from, startedAt),
      to: end === Number.POSITIVE_INFINITY ? null : end,
    };
  });
  if (takenOverAt === null) return dated;
  const ofOutages = new Set(outages.map(({ componentId }) => componentId));
  const written = updates.filter(({ isAutomatic }) => isAutomatic !== true);
  const kept = new CauseBuilder();
  if (wasResolved) {
    const before = new CauseBuilder();
    before.follow(automatic, startedAt, (update) => update.components);
    kept.startResolved(before.lastStatuses, ofOutages);
  } else {
    for (const { componentId, status, to } of spans) {
      if (to === null || to > takenOverAt) kept.add(componentId, status, takenOverAt);
    }
  }
  kept.follow(written, takenOverAt, ({ components }) =>
    components.filter(({ componentId }) => ofOutages.has(componentId)),
  );
  const others = new CauseBuilder();
  others.follow(written, startedAt, ({ components }) =>
    components.filter(({ componentId }) => !ofOutages.has(componentId)),
  );
  return [...dated, ...kept.finish(endedAt), ...others.finish(endedAt)];
}

/** Returns the last status of each component, with those that have joined since the last update. */
function statusesWithOutages(
  lastNamed: ReadonlyMap<string, ComponentStatus>,
  { takenOverAt, outages }: Automation,
  isResolved: boolean,
): ReadonlyMap<string, ComponentStatus> {
  const statuses = new Map(lastNamed);
  const isShown = !isResolved && takenOverAt === null;
  const known = new Set(isShown ? [] : lastNamed.keys());
  for (const { componentId, status, to } of causesOfOutages(outages)) {
    if (known.has(componentId)) continue;
    statuses.set(componentId, isResolved || to === null ? status : "operational");
  }
  return statuses;
}

/**
 * Returns the periods in which outages give components a status: the worst of those at a time. In order of time for
 * each component.
 */
export function causesOfOutages(
  outages: readonly Omit<JoinedOutage, "name" | "isDeleted">[],
): ComponentCause[] {
  const byComponent = Map.groupBy(outages, ({ componentId }) => componentId);
  return [...byComponent].flatMap(([componentId, own]) => {
    const steps = own
      .flatMap(({ status, startedAt, endedAt }) => [
        { at: startedAt, status, by: 1 },
        ...(endedAt === null ? [] : [{ at: endedAt, status, by: -1 }]),
      ])
      .sort((one, other) => one.at - other.at);
    const counts = new Map<ComponentStatus, number>();
    const causes: ComponentCause[] = [];
    for (const [index, { at, status, by }] of steps.entries()) {
      counts.set(status, (counts.get(status) ?? 0) + by);
      if (steps[index + 1]?.at === at) continue;
      const worst = worstStatus([...counts].filter(([, count]) => count > 0).map(([each]) => each));
      const last = causes.at(-1);
      if (last?.to === null) {
        if (last.status === worst) continue;
        last.to = at;
      }
      if (worst !== "operational") causes.push({ componentId, status: worst, from: at, to: null });
    }
    return causes;
  });
}

/** Collects the causes of one incident while its updates are read from the first to the last. */
class CauseBuilder {
  /** Last status of each component. */
  readonly lastStatuses = new Map<string, ComponentStatus>();
  readonly #causes: ComponentCause[] = [];
  readonly #open = new Map<string, ComponentCause>();
  /** Causes that were open when it was resolved. */
  #held: ComponentCause[] = [];
  #isResolved = false;

  /** Reads updates in order, each with the components that `namedIn` returns, at `from` or later. */
  follow(
    updates: readonly UpdateFacts[],
    from: number,
    namedIn: (update: UpdateFacts) => UpdateFacts["components"],
  ): void {
    for (const update of updates) {
      const at = Math.max(update.displayAt, from);
      const named = namedIn(update);
      const isResolving = update.status === "resolved";
      if (this.#isResolved && !isResolving) this.#reopen(at, named.length > 0);
      else if (!this.#isResolved && isResolving) this.#resolve(at);
      for (const { componentId, newStatus } of named) this.add(componentId, newStatus, at);
    }
  }

  add(componentId: string, status: ComponentStatus, at: number): void {
    this.lastStatuses.set(componentId, status);
    const before = this.#open.get(componentId);
    if (this.#isResolved || before?.status === status) return;
    if (before) before.to = at;
    const cause: ComponentCause = { componentId, status, from: at, to: null };
    this.#open.set(componentId, cause);
    this.#causes.push(cause);
  }

  /** Starts with a resolved incident, at whose resolution the components had these statuses. */
  startResolved(statuses: ReadonlyMap<string, ComponentStatus>, ids: ReadonlySet<string>): void {
    this.#isResolved = true;
    this.#held = [...statuses]
      .filter(([componentId]) => ids.has(componentId))
      .map(([componentId, status]) => ({ componentId, status, from: 0, to: 0 }));
  }

  #resolve(at: number): void {
    this.#held = [...this.#open.values()];
    for (const cause of this.#held) cause.to = at;
    this.#open.clear();
    this.#isResolved = true;
  }

  /**
   * Restores the causes that were open at the resolution, unless the incident has named other
   * components since.
   */
  #reopen(at: number, hasNamedOthers: boolean): void {
    this.#isResolved = false;
    for (const { componentId, status } of this.#held) {
      if (hasNamedOthers) this.lastStatuses.set(componentId, "operational");
      else this.add(componentId, status, at);
    }
  }

  /** Returns all causes, those of a resolved incident limited to `resolvedAt`. */
  finish(resolvedAt: number | null): ComponentCause[] {
    if (!this.#isResolved || resolvedAt === null) return this.#causes;
    for (const cause of this.#held) cause.to = resolvedAt;
    return this.#causes.map((cause) => ({
      ...cause,
      to: cause.to === null ? null : Math.min(cause.to, resolvedAt),
    }));
  }
}

/** Returns the components of an incident with their statuses and the names by which they were last known. */
export function componentsOf(
  { components }: Timeline,
  updates: readonly {
    id: string;
    displayAt: number;
    components: readonly { componentId: string; name: string }[];
  }[],
  automation: Automation | undefined,
): { id: string; name: string; status: ComponentStatus }[] {
  const names = new Map(
    (automation?.outages ?? []).map(({ componentId, name }) => [componentId, name]),
  );
  for (const update of inOrder(updates)) {
    for (const { componentId, name } of update.components) names.set(componentId, name);
  }
  return [...components].map(([id, status]) => ({ id, name: names.get(id) ?? "", status }));
}

/** An incident before a change, and its row and updates after it. Those that are left out stay. */
interface IncidentChange {
  before: { row: IncidentRow; updates: readonly UpdateFacts[] };
  row?: IncidentRow;
  updates?: readonly UpdateFacts[];
}

/**
 * Returns an incident after a change at `now` (unix ms): its next version, with the fields that follow from its
 * updates. Times that the change sets, or that were set by hand before, stay.
 */
export function incidentAfter(
  { before, row: desired = before.row, updates = before.updates }: IncidentChange,
  automation: Automation | undefined,
  now: number,
): { row: IncidentRow; timeline: Timeline } {
  const computed = timelineOf({ ...desired, resolvedAt: null }, updates, automation);
  const computedBefore = timelineOf(before.row, before.updates, automation);
  const times = timesAfter(before.row, computedBefore, computed);
  const timeOf = (time: keyof IncidentTimes) =>
    desired[time] === before.row[time] ? times[time] : desired[time];
  const row: IncidentRow = {
    ...desired,
    status: computed.status,
    impact: impactOf(statusesEverGiven(updates, automation), desired.impactOverride),
    identifiedAt: timeOf("identifiedAt"),
    monitoringAt: timeOf("monitoringAt"),
    resolvedAt: times.resolvedAt === null ? null : timeOf("resolvedAt"),
    version: before.row.version + 1,
    updatedAt: now,
  };
  // An end that was set by hand also ends the causes.
  const isEndByHand = row.resolvedAt !== computed.resolvedAt;
  return { row, timeline: isEndByHand ? timelineOf(row, updates, automation) : computed };
}

/** Times of an incident that follow from its updates unless they are set by hand. Unix ms. */
type IncidentTimes = Pick<Timeline, "identifiedAt" | "monitoringAt" | "resolvedAt">;

/**
 * Returns the times of an incident after a change of its updates. Times that were computed from the
 * updates are computed again; times that were set by hand stay. `before` are its times before the
 * change, `computed` those that followed from its updates then, `after` those that follow now.
 */
function timesAfter(
  before: IncidentTimes,
  computed: IncidentTimes,
  after: Timeline,
): IncidentTimes {
  const follow = (time: "identifiedAt" | "monitoringAt" | "resolvedAt") =>
    before[time] === computed[time] ? after[time] : before[time];
  const wasOpen = before.resolvedAt === null;
  return {
    identifiedAt: follow("identifiedAt"),
    monitoringAt: follow("monitoringAt"),
    resolvedAt: after.resolvedAt === null || wasOpen ? after.resolvedAt : follow("resolvedAt"),
  };
}

/** Returns every status that the updates and the outages of an incident gave a component. */
function statusesEverGiven(
  updates: readonly Pick<UpdateFacts, "components">[],
  automation: Automation | undefined,
): ComponentStatus[] {
  return [
    ...updates.flatMap(({ components }) => components.map(({ newStatus }) => newStatus)),
    ...(automation?.outages ?? []).map(({ status }) => status),
  ];
}

/** Returns an incident's impact: the override, else that of the worst status it ever gave a component. */
export function impactOf(everNamed: Iterable<ComponentStatus>, override: Impact | null): Impact {
  return override ?? IMPACT_OF[worstStatus(everNamed)];
}

const IMPACT_OF: Record<ComponentStatus, Impact> = {
  operational: "none",
  under_maintenance: "none",
  degraded_performance: "minor",
  partial_outage: "major",
  major_outage: "critical",
};

/**
 * Returns the manual statuses that a resolved incident sets: the statuses in the update that resolved
 * it. The first update sets none, since its statuses are those of the past.
 */
export function manualStatusesOf(updates: readonly UpdateFacts[]): {
  statuses: ReadonlyMap<string, ComponentStatus>;
  at: number;
} {
  const last = inOrder(updates).at(-1);
  const isResolving = last?.status === "resolved" && last !== firstWritten(updates);
  const named = isResolving ? last.components : [];
  return {
    statuses: new Map(named.map(({ componentId, newStatus }) => [componentId, newStatus])),
    at: last?.displayAt ?? 0,
  };
}

const TIMES = {
  started_at: "startedAt",
  identified_at: "identifiedAt",
  monitoring_at: "monitoringAt",
  resolved_at: "resolvedAt",
} as const;

/**
 * Adds errors for an incident's times that lie in the future or before its start. An error is about a
 * field of `input`, the body of the request.
 */
export function validateTimes(
  errors: FieldErrors,
  row: IncidentTimes & { startedAt: number },
  updates: readonly { id: string; displayAt: number }[],
  input: object,
  now: number,
): void {
  const isNamed = (field: string) => (input as Record<string, unknown>)[field] !== undefined;
  for (const [field, property] of Object.entries(TIMES)) {
    const time = row[property];
    if (time === null) continue;
    if (isNamed(field) && isInFuture(time, now)) errors.add([field], "is in the future");
    else if (time < row.startedAt) {
      if (isNamed(field)) errors.add([field], "is before the incident started");
      else errors.add(["started_at"], `is after ${field}`);
    }
  }
  const first = firstWritten(updates);
  const isBeforeStart = updates.some((each) => each !== first && each.displayAt < row.startedAt);
  if (isBeforeStart && isNamed("started_at")) {
    errors.add(["started_at"], "is after the display_at of an update");
  }
}

/**
 * Adds an error for the time of an update that is in the future or before `startedAt`, which is
 * undefined for the first update.
 */
export function validateDisplayAt(
  errors: FieldErrors,
  displayAt: number,
  startedAt: number | undefined,
  now: number,
): void {
  if (isInFuture(displayAt, now)) errors.add(["display_at"], "is in the future");
  else if (startedAt !== undefined && displayAt < startedAt) {
    errors.add(["display_at"], "is before the incident started");
  }
}

/** Sorts updates by the time of their effect, and those of the same time by the time of writing. */
export function inOrder<U extends { id: string; displayAt: number }>(updates: readonly U[]): U[] {
  return updates.toSorted((a, b) => a.displayAt - b.displayAt || (a.id < b.id ? -1 : 1));
}

/** Returns the update that the incident was opened with. */
export function firstWritten<U extends { id: string }>(updates: readonly U[]): U | undefined {
  return updates.reduce<U | undefined>(
    (first, each) => (first === undefined || each.id < first.id ? each : first),
    undefined,
  );
}

/** Maximum number of components in all updates of one incident, counted once per update. */
export const NAMINGS_MAX = 10 * NAMED_COMPONENTS_MAX;

/** Returns the limit of an incident that one more update of `added` components would exceed, or undefined. */
export function exceededLimit(
  updates: readonly Pick<UpdateFacts, "components">[],
  added: number,
): "updates" | "components" | undefined {
  if (updates.length >= UPDATES_MAX) return "updates";
  return added > 0 && countNamings(updates) + added > NAMINGS_MAX ? "components" : undefined;
}

/** Counts the components in updates, once per update. */
export function countNamings(updates: readonly Pick<UpdateFacts, "components">[]): number {
  return updates.reduce((sum, { components }) => sum + components.length, 0);
}

/** Returns true if an added update resolves an open incident. `updates` are ordered newest first. */
export function isResolving(updates: readonly UpdateFacts[], added: UpdateFacts): boolean {
  const last = updates[0];
  if (last === undefined || last.status === "resolved") return false;
  return added.status === "resolved" && added.displayAt >= last.displayAt;
}

/** Returns true if a key can read drafts and unpublished post-mortems. */
export function canReadDrafts(scopes: ReadonlySet<string>): boolean {
  return scopes.has("read:status") && scopes.has("write:incidents");
}
