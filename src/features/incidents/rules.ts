import { type ComponentStatus, worstStatus } from "../../domain/component-status";
import type { Impact, IncidentStatus } from "../../domain/incident-status";
import { NAMED_COMPONENTS_MAX, UPDATES_MAX } from "../timeline";
import type { ComponentCause } from "../components";

/** Properties of an update that its incident is computed from. Times in unix ms. */
export interface UpdateFacts {
  /** Ids sort by the time of their making. */
  id: string;
  status: IncidentStatus;
  displayAt: number;
  components: readonly { componentId: string; newStatus: ComponentStatus }[];
}

/** State of an incident, computed from its updates. Times in unix ms. */
export interface Timeline {
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

const IMPACT_OF: Record<ComponentStatus, Impact> = {
  operational: "none",
  under_maintenance: "none",
  degraded_performance: "minor",
  partial_outage: "major",
  major_outage: "critical",
};

/** An incident's impact: the override, else by the worst status that it ever gave a component. */
export function impactOf(everNamed: Iterable<ComponentStatus>, override: Impact | null): Impact {
  return override ?? IMPACT_OF[worstStatus(everNamed)];
}

/** Drafts, and post-mortems that are not published, are for whoever may read and write incidents. */
export function mayReadDrafts(scopes: ReadonlySet<string>): boolean {
  return scopes.has("read:status") && scopes.has("write:incidents");
}

/** In the order in which they took effect; of two at once, the one that was written first. */
export function inOrder<U extends { id: string; displayAt: number }>(updates: readonly U[]): U[] {
  return updates.toSorted((a, b) => a.displayAt - b.displayAt || (a.id < b.id ? -1 : 1));
}

/** The update that the incident was opened with. */
export function firstWritten<U extends { id: string }>(updates: readonly U[]): U | undefined {
  return updates.reduce<U | undefined>(
    (first, each) => (first === undefined || each.id < first.id ? each : first),
    undefined,
  );
}

/** The most components that all updates of one incident name, each counted in every update that names it. */
const NAMINGS_MAX = 10 * NAMED_COMPONENTS_MAX;

/** Returns the limit of an incident that one more update of `added` components would exceed, or undefined. */
export function exceededLimit(
  updates: readonly Pick<UpdateFacts, "components">[],
  added: number,
): "updates" | "components" | undefined {
  if (updates.length >= UPDATES_MAX) return "updates";
  const named = updates.reduce((sum, { components }) => sum + components.length, 0);
  return added > 0 && named + added > NAMINGS_MAX ? "components" : undefined;
}

/** Returns true if an update that is added to others, which run from the newest, resolves an open incident. */
export function isResolving(updates: readonly UpdateFacts[], added: UpdateFacts): boolean {
  const last = updates[0];
  if (last === undefined || last.status === "resolved") return false;
  return added.status === "resolved" && added.displayAt >= last.displayAt;
}

/**
 * Tells an incident's updates over again. What the first one names takes effect when the incident
 * started, what the others name when they do. Resolving ends all marks, at `resolvedAt` where that was
 * set by hand; reopening brings back those that were held, or else the ones that the update names. A
 * component that is named once it is resolved gets no mark. A draft marks nothing.
 */
export function timelineOf(
  incident: { startedAt: number; draft: boolean; resolvedAt?: number | null },
  updates: readonly UpdateFacts[],
): Timeline {
  const { startedAt } = incident;
  const first = firstWritten(updates);
  const causeBuilder = new CauseBuilder();
  for (const { componentId, newStatus } of first?.components ?? []) {
    causeBuilder.cause(componentId, newStatus, startedAt);
  }
  let status: IncidentStatus = "investigating";
  let resolvedAt: number | null = null;
  const since = new Map<IncidentStatus, number>();
  for (const update of inOrder(updates)) {
    const at = Math.max(update.displayAt, startedAt);
    const named = update === first ? [] : update.components;
    if (status === "resolved" && update.status !== "resolved") {
      resolvedAt = null;
      causeBuilder.reopen(at, named.length > 0);
    } else if (status !== "resolved" && update.status === "resolved") {
      resolvedAt = at;
      causeBuilder.resolve(at);
    }
    for (const { componentId, newStatus } of named) causeBuilder.cause(componentId, newStatus, at);
    status = update.status;
    if (!since.has(status)) since.set(status, at);
  }
  return {
    status,
    identifiedAt: since.get("identified") ?? null,
    monitoringAt: since.get("monitoring") ?? null,
    resolvedAt,
    causes: incident.draft ? [] : causeBuilder.finish(incident.resolvedAt ?? resolvedAt),
    components: causeBuilder.said,
  };
}

/** The marks of one incident as its updates are told over, from the first to the last. */
class CauseBuilder {
  /** Last status of each component. */
  readonly said = new Map<string, ComponentStatus>();
  readonly #causes: ComponentCause[] = [];
  readonly #open = new Map<string, ComponentCause>();
  /** Causes that were open when it was resolved. */
  #held: ComponentCause[] = [];
  #isResolved = false;

  cause(componentId: string, status: ComponentStatus, at: number): void {
    this.said.set(componentId, status);
    const before = this.#open.get(componentId);
    if (this.#isResolved || before?.status === status) return;
    if (before) before.to = at;
    const cause: ComponentCause = { componentId, status, from: at, to: null };
    this.#open.set(componentId, cause);
    this.#causes.push(cause);
  }

  resolve(at: number): void {
    this.#held = [...this.#open.values()];
    for (const cause of this.#held) cause.to = at;
    this.#open.clear();
    this.#isResolved = true;
  }

  /**
   * Restores the causes that were open at the resolution, unless the incident has named other
   * components since.
   */
  reopen(at: number, hasNamedOthers: boolean): void {
    this.#isResolved = false;
    for (const { componentId, status } of this.#held) {
      if (hasNamedOthers) this.said.set(componentId, "operational");
      else this.cause(componentId, status, at);
    }
  }

  /** All marks, of an incident that was resolved at `resolvedAt` or is open. */
  finish(resolvedAt: number | null): ComponentCause[] {
    if (!this.#isResolved || resolvedAt === null) return this.#causes;
    for (const cause of this.#held) cause.to = resolvedAt;
    return this.#causes.map((cause) => ({
      ...cause,
      to: cause.to === null ? null : Math.min(cause.to, resolvedAt),
    }));
  }
}

/** Times of an incident that follow from its updates unless they are set by hand. Unix ms. */
export type IncidentTimes = Pick<Timeline, "identifiedAt" | "monitoringAt" | "resolvedAt">;

/**
 * The times of an incident whose updates have changed: those that its updates gave follow them, those
 * that were set by hand stay. `known` are its times so far, `given` is what its updates made of them.
 */
export function timesAfter(
  known: IncidentTimes,
  given: IncidentTimes,
  now: Timeline,
): IncidentTimes {
  const follow = (time: "identifiedAt" | "monitoringAt" | "resolvedAt") =>
    known[time] === given[time] ? now[time] : known[time];
  const wasOpen = known.resolvedAt === null;
  return {
    identifiedAt: follow("identifiedAt"),
    monitoringAt: follow("monitoringAt"),
    resolvedAt: now.resolvedAt === null || wasOpen ? now.resolvedAt : follow("resolvedAt"),
  };
}

/**
 * The baselines that an incident leaves behind: what its last update names, where that update has
 * resolved it. The update that it was opened with says what was, so it leaves none.
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
