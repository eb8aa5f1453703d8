import { Problem } from "../../../base/errors";
import { LOCAL, type MonitorState } from "../../../base/status";
import { DAY_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import { type AgentResult, RESULT_AGE_MAX_MS } from "../../locations/agent-wire";
import type { CheckRequests } from "../../locations/check-requests";
import { findLocation, saveResultsTaken } from "../../locations/store";
import type { LocationCheck } from "../monitoring";
import { hasSaid } from "../quorum";
import type { Evaluation } from "../rules";
import { noteVia } from "../via";
import type { Entry } from "./entry";
import { type Recorded, recordEntries } from "./record";
import {
  type Dependencies,
  hasFailed,
  type MonitorRegistry,
  type ScheduledMonitor,
  combinedEvaluation,
} from "./registry";
import { adoptEvaluation, type ResultProcessor } from "./results";
import type { AgentPresences } from "./presences";

/** Maximum number of results that one transaction writes, to keep it short. */
const BATCH = 250;

/** Age from which the result of a check is not taken: it has waited too long at its agent, or on its way. */
const CHECK_AGE_MAX_MS = RESULT_AGE_MAX_MS + 2 * MINUTE_MS;

/** Time between the end of an agent's check and the arrival of its result, after which the result is overdue. */
const ARRIVES_WITHIN_MS = 15 * SECOND_MS;

/** Processes of the agent of a location whose last results are known. */
const PROCESSES_MAX = 4;

interface LocationDependencies {
  ctx: Ctx;
  presences: AgentPresences;
  registry: MonitorRegistry;
  dependencies: Dependencies;
  results: ResultProcessor;
  checkRequests: Pick<CheckRequests, "request"> | undefined;
  /** Called after a monitor may have got another state. */
  hadChange(scheduled: ScheduledMonitor, before: { hadFailed: boolean; state: MonitorState }): void;
}

/** A result of an agent. Without an entry it counts as taken, and nothing is written. */
interface Received {
  result: AgentResult;
  entry: Entry | undefined;
}

/** Takes the results of agents, asks them for checks, and evaluates monitors again whose locations come or go. */
export class LocationWatch {
  readonly presences: AgentPresences;
  readonly #deps: LocationDependencies;
  /** Numbers of the last results that were taken, by process and location. */
  readonly #taken = new Map<string, Map<string, number>>();
  /** Requested checks of all other locations of a monitor that have no result yet. */
  readonly #asked = new Map<ScheduledMonitor, Promise<void>>();
  /** Ids of monitors with doubtful failures. */
  readonly #inDoubt = new Set<string>();
  /** True if a location may have got another name, or may be deleted. */
  #isStale = false;

  constructor(deps: LocationDependencies) {
    this.#deps = deps;
    this.presences = deps.presences;
    deps.results.recorder.onNeedsParents = (entry) => void this.#checkParents(entry);
  }

  /** Notes a request of an agent. */
  noteCall(locationId: string, agentVersion: string): void {
    const { recorder } = this.#deps.results;
    // The contact is stored with what is written anyway.
    recorder.isWatching = true;
    recorder.wake();
    if (this.presences.noteCall(locationId, agentVersion)) this.#cameOrWent(locationId);
  }

  /** Evaluates monitors again that have other locations, or need another number of them, since. */
  changed(scheduled: readonly ScheduledMonitor[], isFirst: boolean): void {
    const multiLocation = scheduled.filter((each) => each.multiLocation?.hasChanged);
    if (multiLocation.length > 0 || isFirst) this.presences.read();
    if (isFirst) for (const id of this.presences.leftOut) this.#leaveOut(id);
    for (const each of multiLocation) {
      if (each.multiLocation) each.multiLocation.hasChanged = false;
      if (each.isPaused) continue;
      if (!isFirst) this.#reevaluate(each);
      // An earlier process may have doubted the failures.
      else if (failsSomewhere(each)) this.#deps.results.addQuorumEntry(each);
    }
  }

  /** Called after a location was changed or deleted. */
  markStale(): void {
    this.#isStale = true;
  }

  /** Looks for agents that call no longer. */
  look(): void {
    if (this.#isStale && this.presences.size > 0) this.presences.read();
    this.#isStale = false;
    for (const { id, presence } of this.presences.look()) {
      if (presence === "left_out") this.#leaveOut(id);
      else this.#cameOrWent(id);
    }
    this.#endOverdueDoubts();
  }

  /** Takes the results of the process of an agent. Resolves after they are stored. */
  async take(locationId: string, process: string, results: readonly AgentResult[]): Promise<void> {
    const now = this.#deps.ctx.clock.now();
    const received = results
      .toSorted((a, b) => a.number - b.number)
      .map((result): Received => ({ result, entry: this.#entryOf(locationId, result, now) }));
    const newest = new Map<ScheduledMonitor, AgentResult>();
    for (const { entry, result } of received) {
      if (entry?.kind === "check") newest.set(entry.scheduled, result);
      if (entry && isDoubtful(result)) this.#beginDoubt(entry.scheduled, locationId);
    }
    await this.#writeAll(locationId, process, received);
    for (const [scheduled, result] of newest) {
      if (!isDoubtful(result)) this.#decide(scheduled, locationId, result);
    }
    await this.#noteVias(received);
  }

  /** Notes the installations behind the providers of a batch, one after another, so that a flood of them waits. */
  async #noteVias(received: readonly Received[]): Promise<void> {
    const newest = new Map<string, readonly string[]>();
    for (const { entry } of received) {
      if (entry?.via && entry.scheduled.type === "upstream") {
        newest.set(entry.scheduled.id, entry.via);
      }
    }
    // oxlint-disable-next-line no-await-in-loop
    for (const [id, via] of newest) await noteVia(this.#deps.ctx, id, via);
  }

  /** Has a monitor checked at all other locations that are in contact. Resolves when there is nothing to wait for. */
  checkRemotely(scheduled: ScheduledMonitor): Promise<void> {
    const asked = this.#asked.get(scheduled);
    if (asked) return asked;
    const checks = this.checkNow(scheduled, false).then(() => {
      this.#asked.delete(scheduled);
    });
    this.#asked.set(scheduled, checks);
    return checks;
  }

  /** Has a monitor checked at all its other locations. Never rejects. */
  checkNow({ id, multiLocation }: ScheduledMonitor, wantsSteps: boolean): Promise<LocationCheck[]> {
    const others = multiLocation?.locations.filter((each) => each !== LOCAL) ?? [];
    return Promise.all(others.map((locationId) => this.#checkAt(locationId, id, wantsSteps)));
  }

  async #checkAt(
    locationId: string,
    monitorId: string,
    wantsSteps: boolean,
  ): Promise<LocationCheck> {
    const { checkRequests } = this.#deps;
    const lastAt = this.presences.contactAt(locationId);
    const isPresent = lastAt !== undefined && this.presences.presenceOf(locationId) === "present";
    if (!checkRequests || !isPresent) {
      const since = lastAt === undefined ? "not called yet" : `not called since ${toIso(lastAt)}`;
      return { locationId, steps: [], error: `Its agent has ${since}.` };
    }
    try {
      return { locationId, ...(await checkRequests.request(locationId, monitorId, wantsSteps)) };
    } catch (error) {
      const text = error instanceof Problem ? error.message : "The check has no result.";
      return { locationId, steps: [], error: text };
    }
  }

  /**
   * Writes results in batches. One that cannot be written is halved until the result at fault is alone, which is
   * written without events and incidents; if that fails too it is dropped.
   */
  async #writeAll(
    locationId: string,
    process: string,
    results: readonly Received[],
  ): Promise<void> {
    let rest = results;
    let batch = rest.slice(0, BATCH);
    let isPlain = false;
    while (batch.length > 0) {
      let last = batch.at(-1)?.result.number ?? 0;
      try {
        // oxlint-disable-next-line no-await-in-loop
        last = await this.#writeBatch(locationId, process, batch, isPlain);
      } catch (error) {
        if (error instanceof Problem && error.code === "unavailable") throw error;
        if (batch.length > 1 || !isPlain) {
          isPlain = batch.length === 1;
          batch = batch.slice(0, Math.ceil(batch.length / 2));
          continue;
        }
        const { log } = this.#deps.ctx;
        log.error(
          { err: error, location: locationId },
          "a result of a location could not be written",
        );
      }
      rest = rest.filter(({ result }) => result.number > last);
      batch = rest.slice(0, BATCH);
      isPlain = false;
    }
  }

  /** Writes results in one transaction, and adopts what follows. Returns the number up to which they are taken. */
  async #writeBatch(
    locationId: string,
    process: string,
    batch: readonly Received[],
    isPlain: boolean,
  ): Promise<number> {
    const { ctx, results } = this.#deps;
    const { recorded, last } = await ctx.db.write((tx) => {
      const whole = batch.at(-1)?.result.number ?? 0;
      const location = findLocation(tx, { id: locationId });
      if (!location) return { recorded: [], last: whole };
      const stored = location.process === process ? location.resultsTaken : 0;
      const before = Math.max(stored, this.#taken.get(locationId)?.get(process) ?? 0);
      let taken = before;
      const entries: { number: number; entry: Entry }[] = [];
      for (const { result, entry } of batch) {
        const { number } = result;
        if (number <= taken) continue;
        taken = number;
        // Its monitor may have changed while the results before it were written.
        if (entry && entry.version === entry.scheduled.version) entries.push({ number, entry });
      }
      const list = entries.map(({ entry }) => entry);
      const recorded = recordEntries(ctx, tx, list, isPlain, results.locationContext);
      // After many consequences, the rest is written by the next transaction.
      const next = entries[recorded.length];
      const last = next ? (entries[recorded.length - 1]?.number ?? 0) : whole;
      // A batch of an earlier process, which comes late, has nothing new.
      if (taken > before) saveResultsTaken(tx, { id: locationId, process, resultsTaken: last });
      return { recorded, last };
    });
    this.#noteTaken(locationId, process, last);
    for (const each of recorded) this.#adopt(each);
    return last;
  }

  #noteTaken(locationId: string, process: string, last: number): void {
    const known = this.#taken.get(locationId) ?? new Map<string, number>();
    this.#taken.set(locationId, known);
    const before = known.get(process) ?? 0;
    known.delete(process);
    known.set(process, Math.max(before, last));
    const [oldest] = known.keys();
    if (known.size > PROCESSES_MAX && oldest !== undefined) known.delete(oldest);
  }

  #adopt(recorded: Recorded): void {
    const { scheduled } = recorded.entry;
    const before = { hadFailed: hasFailed(scheduled), state: combinedEvaluation(scheduled).state };
    adoptEvaluation(recorded);
    this.#deps.hadChange(scheduled, before);
    if (recorded.needsParents) void this.#checkParents(recorded.entry);
  }

  /**
   * Begins to doubt the failures of a location at which a monitor was not down: they count once the next result from
   * there is a failure as well, or is overdue.
   */
  #beginDoubt(scheduled: ScheduledMonitor, location: string): void {
    const { id, multiLocation } = scheduled;
    // An agent with a bad connection may be cut off again and again.
    if (!multiLocation || multiLocation.doubtful.has(location)) return;
    if (multiLocation.evaluations.get(location)?.state === "down") return;
    multiLocation.doubtful.set(location, this.#overdueAt(scheduled));
    this.#inDoubt.add(id);
  }

  /** Ends the doubt by a result: a failure confirms the others, and successes go on until the location is not down. */
  #decide(scheduled: ScheduledMonitor, location: string, { outcome }: AgentResult): void {
    const { multiLocation } = scheduled;
    if (!multiLocation?.doubtful.has(location)) return;
    const isDown = multiLocation.evaluations.get(location)?.state === "down";
    if (outcome === "ok" && isDown)
      multiLocation.doubtful.set(location, this.#overdueAt(scheduled));
    else this.#endDoubt(scheduled, location);
  }

  /** Lets the failures of a location count, if they were doubtful. */
  #endDoubt(scheduled: ScheduledMonitor, location: string): void {
    if (!scheduled.multiLocation?.doubtful.delete(location) || scheduled.isPaused) return;
    this.#deps.results.addQuorumEntry(scheduled);
  }

  /** Returns the time on the monotonic clock from which on the next result from a location is overdue. */
  #overdueAt({ intervalMs, timeoutMs }: ScheduledMonitor): number {
    return this.#deps.ctx.clock.monotonic() + intervalMs + timeoutMs + ARRIVES_WITHIN_MS;
  }

  #endOverdueDoubts(): void {
    const now = this.#deps.ctx.clock.monotonic();
    for (const id of this.#inDoubt) {
      const scheduled = this.#deps.registry.find(id);
      const doubtful = scheduled?.multiLocation?.doubtful ?? new Map<string, number>();
      for (const [location, until] of doubtful) {
        if (scheduled && until <= now) this.#endDoubt(scheduled, location);
      }
      if (doubtful.size === 0) this.#inDoubt.delete(id);
    }
  }

  /** Has the parents of a monitor checked, which fails at enough locations, and evaluates it again then. */
  async #checkParents(entry: Entry): Promise<void> {
    const { dependencies, results, ctx } = this.#deps;
    const { scheduled } = entry;
    if (dependencies.isWaiting(scheduled)) return;
    const parents = dependencies.parentsToCheck(scheduled);
    const { clock } = ctx;
    const startedAt = clock.monotonic() - Math.max(0, clock.now() - entry.at);
    if (parents.length > 0) await dependencies.check(scheduled, parents, startedAt);
    results.addQuorumEntry(scheduled, entry);
  }

  /** Evaluates monitors again at which a location has said nothing: it counts only while it is in contact. */
  #cameOrWent(locationId: string): void {
    for (const [scheduled, { state }] of this.#monitorsAt(locationId)) {
      if (!hasSaid({ state })) this.#reevaluate(scheduled);
    }
  }

  /**
   * Leaves a location out of all its monitors. What it said last is too old to count when its agent calls again: there
   * is no data from it until the next result.
   */
  #leaveOut(locationId: string): void {
    const at = this.#deps.ctx.clock.now();
    const nothing = { outcome: "unknown", latencyMs: null, message: null } as const;
    for (const [scheduled, { state, failures }] of this.#monitorsAt(locationId)) {
      const isOfNothing = state === "no_data" || !hasSaid({ state });
      if (isOfNothing && failures === 0) continue;
      if (scheduled.multiLocation) scheduled.multiLocation.notBefore = at;
      const entry: Entry = { kind: "away", scheduled, location: locationId, at, ...nothing };
      this.#deps.results.recorder.add(entry, true);
    }
  }

  /** Returns the running monitors that have a location, with their evaluations there. */
  *#monitorsAt(locationId: string): Iterable<[ScheduledMonitor, Evaluation]> {
    for (const scheduled of this.#deps.registry) {
      const evaluation = scheduled.multiLocation?.evaluations.get(locationId);
      if (evaluation && !scheduled.isPaused) yield [scheduled, evaluation];
    }
  }

  #reevaluate(scheduled: ScheduledMonitor): void {
    if (scheduled.multiLocation) scheduled.multiLocation.notBefore = this.#deps.ctx.clock.now();
    this.#deps.results.addQuorumEntry(scheduled);
  }

  /** Returns the entry of a result; undefined for one of another version, or of a monitor without the location. */
  #entryOf(locationId: string, result: AgentResult, now: number): Entry | undefined {
    const { monitor_id: id, version, kind, via, certificate } = result;
    const scheduled = this.#deps.registry.find(id);
    const isKnown = scheduled?.version === version && !scheduled.isPaused;
    if (!scheduled || !isKnown || !scheduled.multiLocation?.locations.includes(locationId)) {
      return undefined;
    }
    const ageMs = Math.min(result.age_ms, DAY_MS);
    // Agents drop them, and what is rolled up does not change.
    if (kind === "check" && ageMs > CHECK_AGE_MAX_MS) return undefined;
    const at = Math.round(now - ageMs);
    const { since_age_ms: sinceAgeMs, is_held: isHeld } = result;
    return {
      kind,
      scheduled,
      location: locationId,
      at,
      version,
      via,
      elapsedMs: result.elapsed_ms,
      hasBegunInMaintenance: this.#deps.results.wasInMaintenance(scheduled, at),
      outcome: kind === "held" ? "failed" : result.outcome,
      latencyMs: result.latency_ms,
      message: result.message,
      publicMessage: result.public_message,
      isDegraded: result.is_degraded,
      since: sinceAgeMs === undefined ? undefined : Math.round(now - sinceAgeMs),
      ...(isHeld && { isHeld }),
      ...(certificate && {
        certificate: {
          host: certificate.host,
          fingerprint: certificate.fingerprint,
          expiresAt: certificate.expires_at,
          intermediate: certificate.intermediate ?? null,
        },
      }),
    };
  }
}

/** Returns true for a failure that may be that of the agent's own network. */
function isDoubtful({ is_cut_off: isCutOff, kind, outcome }: AgentResult): boolean {
  return isCutOff === true && kind !== "away" && outcome === "failed";
}

/** Returns true if a monitor fails at one of its locations. */
function failsSomewhere({ multiLocation }: ScheduledMonitor): boolean {
  return [...(multiLocation?.evaluations.values() ?? [])].some(({ state }) => state === "down");
}
