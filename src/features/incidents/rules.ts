import { type ComponentStatus, worstStatus } from "../../domain/component-status";
import type { Impact, IncidentStatus } from "../../domain/incident-status";
import { NAMED_COMPONENTS_MAX, UPDATES_MAX } from "../timeline";
import type { ComponentCause } from "../components";

/** Properties of an update that its incident is computed from. Times in unix ms. */
export interface UpdateFacts {
  /** Ids sort by the time of writing. */
  id: string;
  status: IncidentStatus;
  displayAt: number;
  components: readonly { componentId: string; newStatus: ComponentStatus }[];
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

const IMPACT_OF: Record<ComponentStatus, Impact> = {
  operational: "none",
  under_maintenance: "none",
  degraded_performance: "minor",
  partial_outage: "major",
  major_outage: "critical",
};

/** Returns an incident's impact: the override, else that of the worst status it ever gave a component. */
export function impactOf(everNamed: Iterable<ComponentStatus>, override: Impact | null): Impact {
  return override ?? IMPACT_OF[worstStatus(everNamed)];
}

/** Returns true if a key can read drafts and unpublished post-mortems. */
export function canReadDrafts(scopes: ReadonlySet<string>): boolean {
  return scopes.has("read:status") && scopes.has("write:incidents");
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

/** Returns true if an added update resolves an open incident. `updates` are ordered newest first. */
export function isResolving(updates: readonly UpdateFacts[], added: UpdateFacts): boolean {
  const last = updates[0];
  if (last === undefined || last.status === "resolved") return false;
  return added.status === "resolved" && added.displayAt >= last.displayAt;
}

/**
 * Computes an incident from its updates. Statuses of the first update apply from the start of the
 * incident, those of others from their own time. Resolving ends all causes, at `resolvedAt` if that was
 * set by hand. Reopening restores the ended causes, unless the update names components. Components
 * named while the incident is resolved get no cause. A draft has no causes.
 */
export function timelineOf(
  incident: { startedAt: number; draft: boolean; resolvedAt?: number | null },
  updates: readonly UpdateFacts[],
): Timeline {
  const { startedAt } = incident;
  const first = firstWritten(updates);
  const causes = new CauseBuilder();
  for (const { componentId, newStatus } of first?.components ?? []) {
    causes.add(componentId, newStatus, startedAt);
  }
  let status: IncidentStatus = "investigating";
  let resolvedAt: number | null = null;
  const since = new Map<IncidentStatus, number>();
  for (const update of inOrder(updates)) {
    const at = Math.max(update.displayAt, startedAt);
    const named = update === first ? [] : update.components;
    if (status === "resolved" && update.status !== "resolved") {
      resolvedAt = null;
      causes.reopen(at, named.length > 0);
    } else if (status !== "resolved" && update.status === "resolved") {
      resolvedAt = at;
      causes.resolve(at);
    }
    for (const { componentId, newStatus } of named) causes.add(componentId, newStatus, at);
    status = update.status;
    if (!since.has(status)) since.set(status, at);
  }
  return {
    status,
    identifiedAt: since.get("identified") ?? null,
    monitoringAt: since.get("monitoring") ?? null,
    resolvedAt,
    causes: incident.draft ? [] : causes.finish(incident.resolvedAt ?? resolvedAt),
    components: causes.lastStatuses,
  };
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

  add(componentId: string, status: ComponentStatus, at: number): void {
    this.lastStatuses.set(componentId, status);
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

/** Times of an incident that follow from its updates unless they are set by hand. Unix ms. */
export type IncidentTimes = Pick<Timeline, "identifiedAt" | "monitoringAt" | "resolvedAt">;

/**
 * Returns the times of an incident after a change of its updates. Times that were computed from the
 * updates are computed again; times that were set by hand stay. `before` are its times before the
 * change, `computed` those that followed from its updates then, `after` those that follow now.
 */
export function timesAfter(
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
