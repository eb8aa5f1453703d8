/*
 * The work of agents: the monitors of a location with what their checks need. A monitor becomes text once per change,
 * and the list of a location is compared by its entity tag. Polls wait until it changes.
 */
import { setImmediate } from "node:timers/promises";
import type { Timer } from "../../base/clock";
import { sha256Hex } from "../../base/hash";
import { SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { WorkMonitor } from "../locations/agent-wire";
import type { CheckRequests } from "../locations/check-requests";
import { listDownAt, listVersionsAt, listWorkMonitors } from "../locations/store";
import { ownVia } from "./via";

/** Longest wait of a poll. */
const WAIT_MAX_MS = 30 * SECOND_MS;
/** Polls of one location that wait. A further one ends the oldest. */
const WAITING_MAX = 4;
/** Time for which changes are gathered before those who wait are answered. */
const GATHER_MS = 250;
/** Wait of an agent between two polls that are answered at once. */
const POLL_AFTER_MS = 5 * SECOND_MS;
/** Time for which texts are kept. They contain secrets, and may be large. */
const KEPT_MS = 60 * SECOND_MS;
/** Monitors that are read in one turn of the event loop. */
const MONITORS_PER_TURN = 100;
/** Length of an entity tag, in hexadecimal digits. */
const TAG_LENGTH = 24;

/** The monitors of a location, in the order of their numbers. */
interface LocationWork {
  etag: string;
  nums: readonly number[];
  /** Their texts as a JSON list, kept for a minute after they were asked for; undefined before. */
  monitors: Promise<string> | undefined;
}

/** Poll of an agent. */
interface Poll {
  locationId: string;
  /** Entity tag of the monitors that it has; null without any. */
  etag: string | null;
  /** True to wait until there is something else. */
  canWait: boolean;
  /** Aborts if the agent gives up. */
  signal: AbortSignal;
}

/** Work of the agents of all locations. */
export class AgentWork {
  readonly #ctx: Ctx;
  readonly #requests: CheckRequests;
  readonly #works = new Map<string, LocationWork>();
  readonly #waiting = new Set<{ locationId: string; etag: string | null; wake: () => void }>();
  #gathering: Timer | undefined;
  #isStopped = false;

  constructor(ctx: Ctx, requests: CheckRequests) {
    this.#ctx = ctx;
    this.#requests = requests;
    const changed = () => {
      this.#works.clear();
      this.#gathering ??= ctx.clock.after(GATHER_MS, () => {
        this.#gathering = undefined;
        void this.#wakeChanged();
      });
    };
    ctx.signals.monitorsChanged.on(changed);
    // A token that was ended ends its polls at once.
    ctx.signals.locationsChanged.on(() => this.#wake(() => true));
    requests.onStop = () => this.#stop();
    requests.onRequest((id) => this.#wake(({ locationId }) => locationId === id));
  }

  /**
   * Waits until a location has other monitors than those of the poll, or is asked for a check, for 30 seconds at
   * most. Resolves early if locations changed: the caller then checks the token again.
   */
  async waitForChange({ locationId, etag, canWait, signal }: Poll): Promise<void> {
    if (!canWait || this.#isStopped || signal.aborted) return;
    if (this.#workOf(locationId).etag !== etag) return;
    if (this.#requests.pendingOf(locationId).length > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = {
      locationId,
      etag,
      wake: () => {
        this.#waiting.delete(waiting);
        resolve();
      },
    };
    const earlier = [...this.#waiting].filter((each) => each.locationId === locationId);
    if (earlier.length >= WAITING_MAX) earlier[0]?.wake();
    this.#waiting.add(waiting);
    const timer = this.#ctx.clock.after(WAIT_MAX_MS, waiting.wake);
    signal.addEventListener("abort", waiting.wake, { once: true });
    await promise;
    signal.removeEventListener("abort", waiting.wake);
    timer.cancel();
  }

  /** Returns the answer to a poll as JSON, with the entity tag of its monitors. */
  async answer({ locationId, etag, canWait }: Poll): Promise<{ body: string; etag: string }> {
    const work = this.#workOf(locationId);
    const head = {
      location: locationId,
      now: this.#ctx.clock.now(),
      installation: ownVia(this.#ctx.db) ?? null,
      check_requests: this.#requests.pendingOf(locationId),
      poll_after_ms: canWait ? 0 : POLL_AFTER_MS,
    };
    if (work.etag === etag) return { body: JSON.stringify(head), etag: work.etag };
    work.monitors ??= this.#monitorsOf(work);
    const monitors = await work.monitors;
    const down = listDownAt(this.#ctx.db, { locationId }).map(({ id }) => id);
    const rest = JSON.stringify({ ...head, down }).slice(1);
    return { body: `{"monitors":${monitors},${rest}`, etag: work.etag };
  }

  /** Answers all polls that wait. Further ones do not wait. */
  #stop(): void {
    this.#isStopped = true;
    this.#gathering?.cancel();
    this.#wake(() => true);
  }

  /** Answers the polls of locations whose monitors have changed, each in a turn of the event loop of its own. */
  async #wakeChanged(): Promise<void> {
    for (const waiting of this.#waiting) {
      const { locationId, etag, wake } = waiting;
      const isKnown = this.#works.has(locationId);
      try {
        if (this.#workOf(locationId).etag !== etag) wake();
      } catch {
        // The poll itself answers with the error.
        wake();
      }
      // oxlint-disable-next-line no-await-in-loop
      if (!isKnown) await setImmediate();
    }
  }

  #wake(isMeant: (poll: Pick<Poll, "locationId" | "etag">) => boolean): void {
    for (const waiting of this.#waiting) if (isMeant(waiting)) waiting.wake();
  }

  #workOf(locationId: string): LocationWork {
    const known = this.#works.get(locationId);
    if (known) return known;
    const rows = listVersionsAt(this.#ctx.db, { locationId });
    const list = rows.map(({ num, version }) => `${num}:${version}`).join(",");
    const etag = `"${sha256Hex(`${locationId} ${list}`).slice(0, TAG_LENGTH)}"`;
    const work = { etag, nums: rows.map(({ num }) => num), monitors: undefined };
    this.#works.set(locationId, work);
    return work;
  }

  /** Reads the monitors of a location, in several turns of the event loop. */
  async #monitorsOf(work: LocationWork): Promise<string> {
    const { clock, db } = this.#ctx;
    clock.after(KEPT_MS, () => {
      work.monitors = undefined;
    });
    try {
      const texts: string[] = [];
      for (let from = 0; from < work.nums.length; from += MONITORS_PER_TURN) {
        const some = work.nums.slice(from, from + MONITORS_PER_TURN);
        texts.push(...listWorkMonitors(db, { nums: JSON.stringify(some) }).map(textOf));
        // oxlint-disable-next-line no-await-in-loop
        await setImmediate();
      }
      return `[${texts.join(",")}]`;
    } catch (error) {
      work.monitors = undefined;
      throw error;
    }
  }
}

/** Returns a monitor as JSON. Its config is JSON already. */
function textOf({ config, locations, ...settings }: ReturnType<typeof listWorkMonitors>[number]) {
  const monitor: Omit<WorkMonitor, "config" | "locations"> = settings;
  return `${JSON.stringify(monitor).slice(0, -1)},"config":${config},"locations":${locations}}`;
}
