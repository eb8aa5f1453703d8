import type { MailClass } from "../../../base/mail-address";
import { MINUTE_MS, SECOND_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import { monotonicWallClock, QueueCleanup, SendingLoop } from "../../sending/loop";
import { RESULTS_PER_COMMIT } from "../../sending/results";
import type { LoadThrottle } from "../../sending/throttle";
import type { Templates } from "../compose";
import { findMailHold, holdAllMailings } from "../hold";
import { cancelMailsOfMailing, expireMails, hasExpired } from "../mail";
import type { RelayOptions } from "../relay";
import { formatReply, type Reply, withoutAddresses } from "../reply";
import {
  fullRate,
  LONGEST_WAIT_MS,
  type RateState,
  rateWaitMs,
  refilledRate,
  relayWaitMs,
} from "../rules";
import { mailReadiness, type MailSettings, type RelayRecord, storeRelayRecord } from "../settings";
import { capDueTimesAfter } from "../store";
import { type Attempted, attemptMail, RelayPool, type RelayUnavailable } from "./attempt";
import { type BegunMail, type Capacity, DomainLimits, MailQueue } from "./mail-queue";
import { type CountedResult, type MailResult, MailResults } from "./results";

/** Sends mails while the server runs. */
interface MailSender {
  /** Lets mails under way end for `drainMs`, breaks off the rest, and records results. */
  stop(drainMs: number): Promise<void>;
  stats(): SenderFigures;
  /** Resolves when nothing is under way or unrecorded, and no mail can begin until one falls due or the relay allows it. */
  whenIdle(): Promise<void>;
}

interface SenderDependencies {
  templates: Templates;
  throttle: LoadThrottle;
}

/** Load and counters of the sender. */
export interface SenderFigures {
  /** Mails that are being sent. */
  underWay: number;
  relay: RelayFigures;
  /** Number of results since the start, by class and result. */
  results(mailClass: MailClass, result: CountedResult): number;
}

/** Sends queued mails when they are due. The SMTP client is loaded with the first one. */
export function startSending(
  ctx: Ctx,
  egress: RelayOptions["egress"],
  deps: SenderDependencies,
): MailSender {
  return new Sending(ctx, egress, deps);
}

const AGAIN_AFTER_MS = SECOND_MS;

/** Time for which no further connections are opened after the relay refused one while others were open. */
const FEWER_MS = MINUTE_MS;

/** Number of mails that begin in one turn of the event loop: some milliseconds of work. */
const BEGUN_PER_TURN = 8;

class Sending implements MailSender {
  readonly #ctx: Ctx;
  readonly #templates: Templates;
  readonly #queue: MailQueue;
  readonly #results: MailResults;
  readonly #cleanup: MailCleanup;
  readonly #pool: RelayPool;
  readonly #gate: StartGate;
  readonly #limits = new DomainLimits();
  readonly #steadyNow: () => number;
  readonly #loop: SendingLoop;
  readonly #unfollow: (() => void)[];
  #settings: MailSettings | undefined;
  /** Number of connections after the relay refused a further one, up to a time (monotonic ms). */
  #fewer: { connections: number; until: number } | undefined;
  /** Number of attempts that have no end yet. */
  #trying = 0;
  /** Number of mails that the relay has answered. */
  #answers = 0;
  #isHeld = false;
  /** True if settings or queue may have changed since they were read. */
  #isStale = true;

  constructor(ctx: Ctx, egress: RelayOptions["egress"], deps: SenderDependencies) {
    const { clock, db, signals } = ctx;
    this.#ctx = ctx;
    this.#templates = deps.templates;
    const steadyNow = monotonicWallClock(clock);
    this.#steadyNow = steadyNow;
    this.#cleanup = new MailCleanup(ctx, "the queue of mails could not be cleaned up", () =>
      this.#loop.schedule(),
    );
    this.#queue = new MailQueue(db, steadyNow, (id) => void this.#cleanup.cancelAll(id));
    this.#gate = new StartGate(ctx, deps.throttle, (relay) => void this.#cleanup.record(relay));
    this.#results = new MailResults(ctx, steadyNow, (since) => {
      this.#isHeld = true;
      void this.#cleanup.hold(since);
    });
    this.#loop = new SendingLoop(ctx, {
      begin: () => this.#beginAll(),
      isActive: () => this.#gate.isThrottled,
      results: this.#results,
      cleanup: this.#cleanup,
      unreadable: "the queue of mails cannot be read",
    });
    this.#pool = new RelayPool(ctx, egress, this.#loop.signal, () => this.#settings);
    // Finds changes without a signal, such as a clock that was set forward.
    const tick = clock.every(MINUTE_MS, () => {
      this.#rescan();
      void this.#cleanup.expireAll();
    });
    this.#unfollow = [
      signals.mailsQueued.on(() => this.#rescan()),
      signals.settingsChanged.on(() => this.#rescan()),
      signals.databaseChangedElsewhere.on(() => this.#rescan()),
      () => tick.cancel(),
    ];
    this.#rescan();
    void this.#cleanup.capDueTimes(steadyNow(), () => this.#rescan());
  }

  stats(): SenderFigures {
    return {
      underWay: this.#loop.underWay,
      relay: this.#gate.relay.figures,
      results: (mailClass, result) => this.#results.count(mailClass, result),
    };
  }

  whenIdle(): Promise<void> {
    return this.#loop.whenIdle();
  }

  stop(drainMs: number): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow();
    return this.#loop.stop(drainMs);
  }

  /** Reads settings and queue again before the next mail begins, once for many changes. */
  #rescan(): void {
    this.#isStale = true;
    this.#loop.schedule();
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
    this.#fewer = undefined;
    this.#gate.apply(settings);
    this.#queue.forgetBreakOffs();
    this.#pool.retire();
  }

  /** Begins what can be sent. Returns the wait in ms until a mail falls due, or the relay, the rate or the load allows one. */
  #beginAll(): number {
    if (this.#isStale) this.#readAll();
    const settings = this.#settings;
    if (!settings) return Number.POSITIVE_INFINITY;
    if (this.#queue.nextDueAt <= this.#steadyNow()) this.#queue.wakeDue();
    let waitMs = this.#queue.nextDueAt - this.#steadyNow();
    const connections = this.#connections(settings);
    const capacity: Capacity = {
      connections,
      hasMailings: !this.#isHeld,
      isProbe: !this.#gate.relay.isAvailable,
      isLimited: (domain) => this.#limits.isLimited(domain, this.#ctx.clock.monotonic()),
    };
    for (let begun = 0; this.#hasRoom(connections); begun++) {
      if (!this.#queue.isActive(capacity)) break;
      if (begun === BEGUN_PER_TURN) {
        this.#loop.schedule();
        break;
      }
      const blockedMs = this.#gate.waitMs();
      if (blockedMs > 0) {
        waitMs = Math.min(waitMs, blockedMs);
        break;
      }
      const mail = this.#queue.take(capacity);
      if (!mail) {
        if (this.#queue.canReadOn(capacity)) this.#loop.schedule();
        break;
      }
      this.#gate.begin();
      this.#loop.add(this.#try(mail, settings));
    }
    return Math.max(1, waitMs);
  }

  /** Returns the number of connections that may be used now. */
  #connections({ connections }: MailSettings): number {
    const fewer = this.#fewer;
    const isOver = !fewer || this.#ctx.clock.monotonic() >= fewer.until;
    return isOver ? connections : Math.min(connections, fewer.connections);
  }

  /** True if a connection is free, and few enough results are unrecorded to be repeated after a crash. */
  #hasRoom(connections: number): boolean {
    const most = this.#gate.relay.isAvailable ? connections : 1;
    const { underWay } = this.#loop;
    const unrecorded = this.#results.unwritten + underWay;
    return underWay < most && unrecorded < RESULTS_PER_COMMIT + connections;
  }

  /** Resolves when the attempt has ended and its result was passed to the recorder. */
  async #try(mail: BegunMail, settings: MailSettings): Promise<void> {
    const begunAt = this.#ctx.clock.monotonic();
    const answersBefore = this.#answers;
    let attempted: Attempted | undefined;
    this.#trying += 1;
    try {
      const deps = { templates: this.#templates, pool: this.#pool, settings };
      attempted = await attemptMail(this.#ctx, deps, mail.id);
    } catch (error) {
      this.#ctx.log.error({ err: error, mail: mail.id }, "a mail could not be attempted");
    }
    this.#trying -= 1;
    this.#queue.end(mail);
    if (attempted === undefined || attempted.outcome === "not_begun") {
      if (attempted) this.#gate.takeBack();
      this.#ctx.clock.after(AGAIN_AFTER_MS, () => {
        this.#queue.putBack(mail);
        this.#loop.schedule();
      });
    } else if (attempted.outcome === "gone") {
      this.#gate.takeBack();
      this.#queue.release(mail);
    } else if (attempted.outcome === "relay_unavailable") {
      this.#failRelay(mail, attempted, this.#answers > answersBefore);
    } else {
      if (attempted.outcome === "answered") {
        this.#answers += 1;
        this.#gate.relay.succeed(begunAt);
        this.#queue.answer(mail);
      } else this.#gate.takeBack();
      if (attempted.isRefused) this.#limits.add(mail.domain, this.#ctx.clock.monotonic());
      void this.#record(mail, attempted.result);
    }
  }

  /**
   * Lets a mail start again, after a wait for the relay, its domain or itself. `isAnswering`: the relay answered another
   * mail meanwhile.
   */
  #failRelay(
    mail: BegunMail,
    { reply, isBrokenOff }: RelayUnavailable,
    isAnswering: boolean,
  ): void {
    // What the shutdown breaks off is repeated after the next start.
    if (this.#loop.signal.aborted) return this.#queue.putBack(mail);
    const { relay } = this.#gate;
    if (!isBrokenOff) {
      const others = this.#trying;
      // It may only take no further connection. The last of those in use shows if it is unavailable.
      if (relay.isAvailable && (others > 0 || isAnswering)) this.#useFewer(Math.max(1, others));
      else {
        this.#fewer = undefined;
        relay.fail(reply);
      }
      return this.#queue.putBack(mail);
    }
    const suspicion = this.#queue.breakOff(mail);
    if (suspicion === "anywhere") relay.fail(reply);
    else if (suspicion === "unanswered") relay.suspect(reply);
  }

  #useFewer(connections: number): void {
    this.#gate.takeBack();
    this.#fewer = { connections, until: this.#ctx.clock.monotonic() + FEWER_MS };
  }

  async #record(mail: BegunMail, result: MailResult): Promise<void> {
    this.#queue.release(mail, await this.#results.add({ mailId: mail.id, result }));
    this.#loop.schedule();
  }
}

/** Everything that can delay the next mail: the relay, the limit of mails a minute, and the load of the server. */
class StartGate {
  readonly relay: RelayState;
  readonly #ctx: Ctx;
  readonly #throttle: LoadThrottle;
  #perMinute = 0;
  #rate: RateState | undefined;
  #isThrottled = false;

  constructor(
    ctx: Ctx,
    throttle: LoadThrottle,
    relayChanged: ConstructorParameters<typeof RelayState>[1],
  ) {
    this.relay = new RelayState(ctx, relayChanged);
    this.#ctx = ctx;
    this.#throttle = throttle;
  }

  /** True if only the load of the server delays the next mail. */
  get isThrottled(): boolean {
    return this.#isThrottled;
  }

  /** Applies new settings. Failures of the old ones are forgotten. */
  apply(settings: MailSettings | undefined): void {
    this.relay.reset();
    const perMinute = settings?.ratePerMinute ?? 0;
    if (perMinute === this.#perMinute) return;
    this.#perMinute = perMinute;
    this.#rate = perMinute === 0 ? undefined : fullRate(perMinute, this.#ctx.clock.monotonic());
  }

  /** Returns the wait in ms until one mail may start. */
  waitMs(): number {
    const waitMs = Math.max(this.relay.waitMs(), this.#rateWaitMs());
    this.#isThrottled = waitMs === 0 && !this.#throttle.take();
    return this.#isThrottled ? this.#throttle.waitMs() : waitMs;
  }

  /** Counts a mail that begins. */
  begin(): void {
    if (this.#rate) this.#rate.tokens -= 1;
  }

  /** Takes back a mail that was not sent. */
  takeBack(): void {
    if (this.#rate) this.#rate.tokens += 1;
  }

  #rateWaitMs(): number {
    if (!this.#rate) return 0;
    this.#rate = refilledRate(this.#rate, this.#perMinute, this.#ctx.clock.monotonic());
    return rateWaitMs(this.#rate, this.#perMinute);
  }
}

/** Availability of the relay, for people. */
interface RelayFigures {
  isAvailable: boolean;
  /** Time (unix ms) since which it is unavailable. */
  since: number | null;
  /** Last reply while it is unavailable. */
  reply: Reply | null;
}

/** Failures of the relay since it was last available. */
interface Failures {
  since: number;
  reply: Reply;
  count: number;
  /** Times of the last failure and of the next try (monotonic ms). */
  failedAt: number;
  retryAt: number;
}

/** Availability of the relay, and the wait until one mail tries it again. */
class RelayState {
  readonly #ctx: Ctx;
  readonly #changed: (record: RelayRecord | undefined) => void;
  #failures: Failures | undefined;
  /** False until the relay answered a mail. */
  #isKnown = false;

  /** `changed` is called with the new state for people; undefined if it is not known any more. */
  constructor(ctx: Ctx, changed: (record: RelayRecord | undefined) => void) {
    this.#ctx = ctx;
    this.#changed = changed;
  }

  get figures(): RelayFigures {
    const { since = null, reply = null } = this.#failures ?? {};
    return { isAvailable: this.isAvailable, since, reply };
  }

  get isAvailable(): boolean {
    return this.#failures === undefined;
  }

  /** Returns the wait in ms until one mail may try the relay again; 0 if it is available. */
  waitMs(): number {
    return this.#failures ? Math.max(0, this.#failures.retryAt - this.#ctx.clock.monotonic()) : 0;
  }

  /** Records a failure. Mails that began together share one wait; the next one is twice as long. */
  fail(reply: Reply): void {
    const now = this.#ctx.clock.monotonic();
    const { count = 0, retryAt = now } = this.#failures ?? {};
    const waitMs = relayWaitMs(count);
    if (now < retryAt) this.#set(reply, { count, retryAt });
    else this.#set(reply, { count: count + 1, retryAt: now + waitMs });
  }

  /** Records that the relay answered no mail of late. Mails are tried one at a time, and do not wait. */
  suspect(reply: Reply): void {
    const { count = 0, retryAt = this.#ctx.clock.monotonic() } = this.#failures ?? {};
    this.#set(reply, { count, retryAt });
  }

  #set(reply: Reply, { count, retryAt }: Pick<Failures, "count" | "retryAt">): void {
    const { clock, log } = this.#ctx;
    const now = clock.monotonic();
    const earlier = this.#failures;
    const words = withoutAddresses(formatReply(reply));
    if (!earlier) {
      log.warn({ ...reply, text: withoutAddresses(reply.text) }, "the mail relay is unavailable");
    }
    const since = earlier?.since ?? clock.now();
    this.#failures = { since, count, failedAt: now, retryAt, reply };
    if (earlier && earlier.retryAt === retryAt) return;
    this.#isKnown = true;
    const nextTryAt = clock.now() + Math.max(0, retryAt - now);
    this.#changed({ isAvailable: false, since, reply: words, nextTryAt });
  }

  /** Records an answer to a mail that began at `begunAt` (monotonic ms): after a failure, or it proves nothing. */
  succeed(begunAt: number): void {
    if (!this.#failures && this.#isKnown) return;
    if (this.#failures && begunAt <= this.#failures.failedAt) return;
    if (this.#failures) this.#ctx.log.info({}, "the mail relay is available again");
    this.#failures = undefined;
    this.#isKnown = true;
    const since = this.#ctx.clock.now();
    this.#changed({ isAvailable: true, since, reply: null, nextTryAt: null });
  }

  /** Forgets failures, such as after a change of the settings. */
  reset(): void {
    this.#failures = undefined;
    this.#isKnown = false;
    // Another process or an earlier start may have stored one.
    this.#changed(undefined);
  }
}

/** Time after which a stop of all mailings is written again. */
const HOLD_AGAIN_MS = 1_000;

const CLASSES: readonly MailClass[] = [1, 2, 3];

/** Changes of the queue of mails besides results. */
class MailCleanup extends QueueCleanup {
  #unwrittenHold: { since: number } | undefined;

  /** True if all mailings are to be stopped, but the database does not say so yet. */
  get hasUnwrittenHold(): boolean {
    return this.#unwrittenHold !== undefined;
  }

  /** Cancels the pending mails of a stopped mailing, some per transaction. */
  cancelAll(mailingId: string): Promise<void> {
    return this.runCancelling(mailingId, (tx, limit) =>
      cancelMailsOfMailing(this.ctx, tx, mailingId, limit),
    );
  }

  /** Ends mails whose time is over, also while nothing can be sent. */
  async expireAll(): Promise<void> {
    if (!this.#hasExpired()) return;
    await this.runAll((tx, limit) => expireMails(this.ctx, tx, limit));
  }

  #hasExpired(): boolean {
    const { clock, db, log } = this.ctx;
    try {
      return hasExpired(db, clock.now());
    } catch (error) {
      // Without a caller that waits, it would end the process.
      log.error({ err: error }, "the queue of mails cannot be read");
      return false;
    }
  }

  /**
   * Makes mails due whose due time is later than any wait allows, which happens if the clock was set back.
   * Calls `capped` if there were any.
   */
  async capDueTimes(now: number, capped: () => void): Promise<void> {
    const latest = now + LONGEST_WAIT_MS;
    let count = 0;
    for (const one of CLASSES) {
      count += await this.runAll((tx, limit) =>
        capDueTimesAfter(tx, { class: one, now, latest, limit }),
      );
    }
    if (count > 0) capped();
  }

  /** Stores the state of the relay for people; undefined if it is not known any more. */
  async record(relay: RelayRecord | undefined): Promise<void> {
    const { clock } = this.ctx;
    await this.run((tx) => storeRelayRecord(tx, relay, clock.now()));
  }

  /** Stops all mailings, since too many of their mails failed. A failed write is repeated. */
  async hold(since: number): Promise<void> {
    if (this.#unwrittenHold !== undefined) return;
    this.#unwrittenHold = { since };
    await this.#writeHold();
  }

  async #writeHold(): Promise<void> {
    const hold = this.#unwrittenHold;
    if (!hold || this.isStopped) return;
    const isNew = await this.run((tx) =>
      holdAllMailings(this.ctx, tx, { reason: "failures", since: hold.since }),
    );
    if (isNew === undefined) {
      this.ctx.clock.after(HOLD_AGAIN_MS, () => void this.#writeHold());
      return;
    }
    this.#unwrittenHold = undefined;
    if (!isNew) return;
    this.ctx.log.error({}, "mailings are held, since more than a fifth of their last mails failed");
  }
}
