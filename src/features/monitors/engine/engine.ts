import type { AppContext } from "../../../context";
import { conflict, notFound } from "../../../errors";
import type { MonitorType } from "../../../kernel/monitor-state";
import { type CheckRow, findLiveness } from "../checks-store";
import type { Heartbeat, Monitoring } from "../monitoring";
import type { ProbeResult } from "../probe";
import type { MonitorConfig } from "../probes";
import { Agenda } from "./agenda";
import type { MonitoringFigures } from "./figures";
import { Findings } from "./findings";
import { Lanes } from "./lanes";
import { Liveness } from "./liveness";
import type { Prober } from "./prober";
import { closing } from "./recorder";
import { Roster } from "./roster";
import { type Waiter, Waiters } from "./waiters";
import { Waker } from "./waker";
import { heartbeatExpectedSince, type Watched } from "./watched";

/** How often it is looked whether the server was away. */
const LOOK_MS = 15_000;
/** What is due within this is begun together. */
const COARSENESS_MS = 25;
/** Monitors that are changed one after the other are read again no more often. */
const REFRESH_MS = 250;

/** Runs the checks of all monitors, each when it is due, and hands on what they find. */
export class Engine implements Monitoring {
  readonly #ctx: AppContext;
  readonly #prober: Prober;
  readonly #findings: Findings;
  readonly #liveness: Liveness;
  readonly #waker: Waker;
  readonly #agenda: Agenda;
  readonly #roster = new Roster();
  readonly #lanes = new Lanes();
  readonly #waiters = new Waiters();
  readonly #leave: (() => void)[];
  #isRosterStale = true;
  #isFailing = false;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  /** Raised whenever the server was away: a check that was begun before says nothing. */
  #epoch = 0;
  #state: "made" | "running" | "stopped" = "made";

  constructor(ctx: AppContext, prober: Prober) {
    this.#ctx = ctx;
    this.#prober = prober;
    this.#liveness = new Liveness(ctx.clock, findLiveness(ctx.db, {})?.at);
    this.#waker = new Waker(ctx.clock, () => this.#tick());
    this.#agenda = new Agenda(ctx, this.#lanes, this.#waker);
    this.#findings = new Findings(ctx, this.#liveness, () => this.#wakeForRecorder());
    const isStale = () => {
      this.#isRosterStale = true;
      this.#findings.silenceMayHaveChanged();
      this.#waker.at(this.#refreshedAt + REFRESH_MS);
    };
    const mayBeSilenced = () => {
      this.#findings.silenceMayHaveChanged();
      this.#waker.at(ctx.clock.monotonic());
    };
    const { monitorsChanged, databaseChangedElsewhere, pageChanged } = ctx.signals;
    this.#leave = [
      monitorsChanged.on(isStale),
      databaseChangedElsewhere.on(isStale),
      pageChanged.on(mayBeSilenced),
    ];
  }

  /** Begins to check whatever is due. What the server was not there to see is written down first. */
  start(): void {
    this.#state = "running";
    this.#waker.on();
    // They were read before where somebody was answered already; then nothing could be arranged.
    for (const watched of this.#roster) if (!watched.isPaused) this.#agenda.first(watched);
    this.#tick();
  }

  /** Ends what is under way, without a result, and writes what was found. */
  async stop(): Promise<void> {
    if (this.#state === "stopped") return;
    this.#state = "stopped";
    for (const leave of this.#leave) leave();
    this.#waker.off();
    this.#prober.abort();
    this.#waiters.rejectAll(closing());
    this.#liveness.look();
    await this.#findings.recorder.close();
  }

  figures(): MonitoringFigures {
    const { recorder, figures } = this.#findings;
    return {
      monitors: this.#roster.size,
      underWay: this.#lanes.underWay,
      waiting: recorder.waiting,
      dropped: recorder.dropped,
      ...figures.soFar(),
    };
  }

  /** When the oldest result came that is not written yet, in unix ms. */
  oldestUnwritten(): number | undefined {
    return this.#findings.recorder.oldestAt;
  }

  async checkNow(id: string): Promise<CheckRow> {
    if (this.#state === "stopped") throw closing();
    this.#refresh();
    const watched = this.#roster.find(id);
    if (!watched) throw notFound("monitor");
    if (watched.isPaused) throw conflict("The monitor is paused.");
    if (watched.type === "push") throw conflict("A push monitor is not asked: its job calls.");
    const waiter = this.#waiters.add(watched);
    if (!watched.isUnderWay) this.#begin(watched);
    const check = await waiter.promise;
    if (!check) throw conflict("The monitor was paused or deleted meanwhile.");
    return check;
  }

  async heartbeat(id: string, beat: Heartbeat): Promise<void> {
    if (this.#state === "stopped") throw closing();
    this.#refresh();
    const watched = this.#roster.find(id);
    if (!watched || watched.isPaused) return;
    const at = this.#ctx.clock.now();
    watched.heartbeatAt = at;
    const waiter: Waiter = Promise.withResolvers();
    const startedAt = this.#ctx.clock.monotonic();
    this.#findings.take("heartbeat", watched, { at, startedAt }, beat, [waiter]);
    this.#wakeForRecorder();
    this.#agenda.after(watched, watched.intervalMs + watched.graceMs);
    await waiter.promise;
  }

  tryOut(type: MonitorType, config: object, timeoutMs: number): Promise<ProbeResult> {
    return this.#prober.run(type, config as MonitorConfig, timeoutMs);
  }

  #tick(): void {
    try {
      this.#refresh();
      this.#lookAround();
      for (const watched of this.#findings.refreshSilence(this.#roster)) {
        if (watched.type !== "push") this.#agenda.after(watched, 0);
      }
      this.#isFailing = false;
    } catch (error) {
      // Said once: it may stay so for hours. The next tick tries again.
      if (!this.#isFailing) this.#ctx.log.error({ err: error }, "monitors could not be read");
      this.#isFailing = true;
    }
    this.#beginDue();
    const { recorder } = this.#findings;
    const now = this.#ctx.clock.monotonic();
    if (recorder.dueAt <= now) recorder.write();
    const nextDue = this.#lanes.peek()?.dueAt ?? Number.POSITIVE_INFINITY;
    const next = Math.min(nextDue, recorder.dueAt, now + LOOK_MS);
    this.#waker.at(Math.max(next, now + COARSENESS_MS));
  }

  #wakeForRecorder(): void {
    this.#waker.at(this.#findings.recorder.dueAt);
  }

  #beginDue(): void {
    const now = this.#ctx.clock.monotonic();
    for (;;) {
      const next = this.#lanes.peek();
      if (!next || next.dueAt > now) return;
      this.#findings.figures.began(now - next.dueAt);
      this.#begin(next);
    }
  }

  #begin(watched: Watched): void {
    this.#lanes.begin(watched);
    void this.#check(watched);
  }

  async #check(watched: Watched): Promise<void> {
    const { version, heartbeatAt } = watched;
    const epoch = this.#epoch;
    const at = this.#ctx.clock.now();
    const startedAt = this.#ctx.clock.monotonic();
    const found = await (watched.type === "push"
      ? this.#prober.missHeartbeat(heartbeatExpectedSince(watched, startedAt))
      : this.#prober.find(watched, startedAt));
    this.#lanes.end(watched, this.#ctx.clock.monotonic() - startedAt);
    if (this.#state === "stopped") return;
    this.#lookAround();
    const isWatched = this.#roster.ofNum(watched.num) === watched && !watched.isPaused;
    // What it was like before a change, or before this server was away, says nothing of now.
    const isOutdated = version !== watched.version || epoch !== this.#epoch;
    if (!isWatched) this.#waiters.release(watched);
    else if (isOutdated && watched.type !== "push") this.#agenda.after(watched, 0);
    // A job may also have called while it was found out whether this server has a network.
    else if (isOutdated || watched.heartbeatAt !== heartbeatAt) this.#agenda.first(watched);
    else this.#take(watched, { at, startedAt }, found);
    this.#beginDue();
  }

  /** Takes a result in, and arranges the next check. */
  #take(watched: Watched, began: { at: number; startedAt: number }, found: ProbeResult): void {
    const waiters = this.#waiters.take(watched);
    const isUnsure = this.#findings.take("check", watched, began, found, waiters);
    this.#wakeForRecorder();
    this.#agenda.next(watched, isUnsure);
  }

  /** Reads monitors that were changed, if any were. A new or changed one is checked at once. */
  #refresh(): void {
    if (!this.#isRosterStale) return;
    const isFirst = this.#refreshedAt === Number.NEGATIVE_INFINITY;
    const { changed, removed } = this.#roster.refresh(this.#ctx.db);
    this.#isRosterStale = false;
    this.#refreshedAt = this.#ctx.clock.monotonic();
    for (const watched of removed) this.#lanes.remove(watched);
    for (const watched of changed) {
      if (watched.isPaused) this.#lanes.remove(watched);
      else if (isFirst || watched.type === "push") this.#agenda.first(watched);
      else this.#agenda.after(watched, 0);
    }
    this.#findings.recorder.isWatching = [...this.#roster].some(({ isPaused }) => !isPaused);
  }

  /** Writes down, where the server was away, that nothing is known since, and begins anew. */
  #lookAround(): void {
    const since = this.#liveness.look();
    if (since === undefined) return;
    this.#epoch += 1;
    const watching = [...this.#roster].filter(({ isPaused }) => !isPaused);
    if (watching.length === 0) return;
    this.#ctx.log.warn({ since: new Date(since) }, "this server was away: nothing is known since");
    for (const watched of watching) {
      this.#findings.takeAway(watched, since);
      this.#agenda.first(watched);
    }
    this.#findings.recorder.write();
  }
}
