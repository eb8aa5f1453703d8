import type { AppContext } from "../../../context";
import type { Timer } from "../../../kernel/clock";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../kernel/time";
import { monotonicWallClock, OncePerTurn, RESULTS_PER_COMMIT } from "../../outgoing";
import { findMailHold } from "../hold";
import { mailReadiness, type MailSettings } from "../settings";
import type { RelayOptions } from "../smtp/relay";
import type { Templates } from "../templates";
import { type Attempted, attemptMail } from "./attempt";
import { MailCleanup } from "./cleanup";
import { DomainLimits } from "./domain-limits";
import type { MailSender, SenderDependencies, SenderFigures } from "./model";
import { type BegunMail, type Capacity, MailQueue } from "./mail-queue";
import type { MailResult } from "./record";
import { RelayPool } from "./relay-pool";
import { MailResults } from "./results";
import { StartGate } from "./start-gate";

const AGAIN_AFTER_MS = SECOND_MS;
/** Number of mails that begin in one turn of the event loop: some milliseconds of work. */
const BEGUN_PER_TURN = 8;

/** Sends queued mails when they are due. The SMTP client is loaded with the first one. */
export function startSending(
  ctx: AppContext,
  egress: RelayOptions["egress"],
  deps: SenderDependencies,
): MailSender {
  return new Sending(ctx, egress, deps);
}

class Sending implements MailSender {
  readonly #ctx: AppContext;
  readonly #templates: Templates;
  readonly #queue: MailQueue;
  readonly #results: MailResults;
  readonly #cleanup: MailCleanup;
  readonly #pool: RelayPool;
  readonly #gate: StartGate;
  readonly #limits = new DomainLimits();
  readonly #steadyNow: () => number;
  readonly #turn = new OncePerTurn(() => this.#run());
  readonly #underWay = new Set<Promise<void>>();
  readonly #aborter = new AbortController();
  readonly #unsubscribe: (() => void)[];
  readonly #tick: Timer;
  #settings: MailSettings | undefined;
  #isHeld = false;
  /** True if settings or queue may have changed since they were read. */
  #isStale = true;
  /** Wakes when a mail falls due, or when the relay, the rate or the load allows the next one. */
  #timer: Timer | undefined;
  #isStopped = false;
  #whenIdle: (() => void)[] = [];

  constructor(ctx: AppContext, egress: RelayOptions["egress"], deps: SenderDependencies) {
    const { clock, db, signals } = ctx;
    this.#ctx = ctx;
    this.#templates = deps.templates;
    const steadyNow = monotonicWallClock(clock);
    this.#steadyNow = steadyNow;
    this.#cleanup = new MailCleanup(ctx, () => this.#turn.schedule());
    this.#queue = new MailQueue(db, steadyNow, (id) => void this.#cleanup.cancelAll(id));
    this.#gate = new StartGate(ctx, deps.throttle, (relay) => void this.#cleanup.record(relay));
    this.#results = new MailResults(ctx, steadyNow, (since) => {
      this.#isHeld = true;
      void this.#cleanup.hold(since);
    });
    this.#pool = new RelayPool(ctx, egress, this.#aborter.signal, () => this.#settings);
    this.#unsubscribe = [
      signals.mailsQueued.on(() => this.#rescan()),
      signals.settingsChanged.on(() => this.#rescan()),
      signals.databaseChangedElsewhere.on(() => this.#rescan()),
    ];
    // Finds changes without a signal, such as a clock that was set forward.
    this.#tick = clock.every(MINUTE_MS, () => {
      this.#rescan();
      void this.#cleanup.expireAll();
    });
    this.#rescan();
    void this.#cleanup.capDueTimes(steadyNow(), () => this.#rescan());
  }

  stats(): SenderFigures {
    return {
      underWay: this.#underWay.size,
      relay: this.#gate.relay.figures,
      results: (mailClass, result) => this.#results.counts.of(mailClass, result),
    };
  }

  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#turn.schedule();
    });
  }

  async stop(drainMs: number): Promise<void> {
    this.#isStopped = true;
    this.#turn.stop();
    this.#cleanup.stop();
    this.#tick.cancel();
    this.#timer?.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    const overdue = this.#ctx.clock.after(drainMs, () => {
      this.#aborter.abort();
      this.#pool.close();
    });
    await Promise.all(this.#underWay);
    overdue.cancel();
    this.#aborter.abort();
    this.#pool.close();
    await this.#results.flush();
    this.#results.stop();
  }

  /** Reads settings and queue again before the next mail begins, once for many changes. */
  #rescan(): void {
    this.#isStale = true;
    this.#turn.schedule();
  }

  #readAll(): void {
    this.#readSettings();
    const wasHeld = this.#isHeld;
    this.#isHeld = this.#cleanup.hasUnwrittenHold || findMailHold(this.#ctx.db) !== undefined;
    if (wasHeld && !this.#isHeld) this.#results.forgetFailures();
    this.#queue.rescan();
    this.#isStale = false;
  }

  /** Reads the settings. New ones hold from the next connection on. */
  #readSettings(): void {
    const readiness = mailReadiness(this.#ctx);
    const settings = readiness.ready ? readiness.settings : undefined;
    if (Bun.deepEquals(settings, this.#settings)) return;
    this.#settings = settings;
    this.#gate.apply(settings);
    this.#queue.forgetBreakOffs();
    this.#pool.retire();
  }

  #run(): void {
    // A mail whose result cannot be recorded would be sent again and again.
    if (this.#results.isStuck) return;
    try {
      this.#beginAll();
    } catch (error) {
      this.#ctx.log.error({ err: error }, "the queue of mails cannot be read");
      this.#wakeAfter(AGAIN_AFTER_MS);
    }
    if (this.#underWay.size > 0) return;
    // No other result is worth waiting for.
    void this.#results.flush();
    const isBusy = this.#cleanup.underWay > 0 || this.#turn.isScheduled || this.#gate.isThrottled;
    if (isBusy || this.#results.unwritten > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #beginAll(): void {
    if (this.#isStale) this.#readAll();
    const settings = this.#settings;
    if (!settings) return;
    if (this.#queue.nextDueAt <= this.#steadyNow()) this.#queue.wakeDue();
    let waitMs = this.#queue.nextDueAt - this.#steadyNow();
    const capacity: Capacity = {
      connections: settings.connections,
      hasMailings: !this.#isHeld,
      isProbe: !this.#gate.relay.isAvailable,
      isLimited: (domain) => this.#limits.isLimited(domain, this.#ctx.clock.monotonic()),
    };
    for (let begun = 0; this.#hasRoom(settings); begun++) {
      if (!this.#queue.isActive(capacity)) break;
      if (begun === BEGUN_PER_TURN) return this.#turn.schedule();
      const blockedMs = this.#gate.waitMs();
      if (blockedMs > 0) {
        waitMs = Math.min(waitMs, blockedMs);
        break;
      }
      const mail = this.#queue.take(capacity);
      if (!mail) {
        if (this.#queue.canReadOn(capacity)) this.#turn.schedule();
        break;
      }
      this.#gate.begin();
      this.#start(mail, settings);
    }
    this.#wakeAfter(waitMs);
  }

  /** True if a connection is free, and few enough results are unrecorded to be repeated after a crash. */
  #hasRoom({ connections }: MailSettings): boolean {
    const most = this.#gate.relay.isAvailable ? connections : 1;
    const unrecorded = this.#results.unwritten + this.#underWay.size;
    return this.#underWay.size < most && unrecorded < RESULTS_PER_COMMIT + connections;
  }

  #wakeAfter(waitMs: number): void {
    this.#timer?.cancel();
    if (this.#isStopped || waitMs === Number.POSITIVE_INFINITY) return;
    // A timer of more than 24 days would fire at once.
    const inTimeMs = Math.min(DAY_MS, Math.max(1, waitMs));
    this.#timer = this.#ctx.clock.after(inTimeMs, () => this.#turn.schedule());
  }

  #start(mail: BegunMail, settings: MailSettings): void {
    const ended = this.#try(mail, settings).finally(() => {
      this.#underWay.delete(ended);
      this.#turn.schedule();
    });
    this.#underWay.add(ended);
  }

  /** Resolves when the attempt has ended and its result was passed to the recorder. */
  async #try(mail: BegunMail, settings: MailSettings): Promise<void> {
    const begunAt = this.#ctx.clock.monotonic();
    let attempted: Attempted | undefined;
    try {
      const deps = { templates: this.#templates, pool: this.#pool, settings };
      attempted = await attemptMail(this.#ctx, deps, mail.id);
    } catch (error) {
      this.#ctx.log.error({ err: error, mail: mail.id }, "a mail could not be attempted");
    }
    this.#queue.end(mail);
    if (attempted === undefined) {
      this.#ctx.clock.after(AGAIN_AFTER_MS, () => {
        this.#queue.putBack(mail);
        this.#turn.schedule();
      });
    } else if (attempted.outcome === "gone") {
      this.#gate.takeBack();
      this.#queue.release(mail);
    } else if (attempted.outcome === "relay_unavailable") {
      // What the shutdown breaks off is repeated after the next start.
      if (!this.#aborter.signal.aborted) this.#gate.relay.fail(attempted.reply);
      this.#queue.putBack(mail, attempted.isBrokenOff);
    } else {
      if (attempted.outcome === "answered") this.#gate.relay.succeed(begunAt);
      else this.#gate.takeBack();
      if (attempted.isRefused) this.#limits.add(mail.domain, this.#ctx.clock.monotonic());
      void this.#record(mail, attempted.result);
    }
  }

  async #record(mail: BegunMail, result: MailResult): Promise<void> {
    this.#queue.release(mail, await this.#results.add({ mailId: mail.id, result }));
    this.#turn.schedule();
  }
}
