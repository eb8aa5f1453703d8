import type { AppContext } from "../../../context";
import { createEgress, type Egress } from "../../../egress";
import type { Timer } from "../../../kernel/clock";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../kernel/time";
import { lazy } from "../../../kernel/lazy";
import { Backoff, createLoadThrottle, type LoadThrottle } from "../../outgoing";
import { monotonicWallClock, OncePerTurn } from "../../outgoing";
import { AwaitedMails } from "../alerts/awaited-mails";
import { hasBatches } from "../delivery-store";
import { isSuccess } from "../rules";
import type { NoTry, TryResult } from "./try-result";
import { QueueCleanup } from "./queue-cleanup";
import { type DelivererFigures, TryCounts } from "./figures";
import type { ReadHeadline } from "./message";
import { type Begun, DeliveryQueue } from "./delivery-queue";
import { createRecorder, type Recorder } from "./recorder";

/** Runs deliveries while the server runs. */
export interface Deliverer {
  /** Lets attempts in progress end for `drainMs`, aborts the rest for a later retry, and records results. */
  stop(drainMs: number): Promise<void>;
  stats(): DelivererFigures;
  /** Resolves when nothing is due, under way or unrecorded. */
  whenIdle(): Promise<void>;
}

const AGAIN_AFTER_MS = SECOND_MS;
/** Delay after a fault of this server: doubles. */
const BACKOFF_MS = { first: 2 * SECOND_MS, longest: 30 * SECOND_MS };
/** Number of attempts that start in one turn of the event loop: some milliseconds of work. */
const STARTED_PER_TURN = 16;

/**
 * Delivers queued events when they are due. The code of outgoing requests is loaded with the first one.
 * `readHeadline` returns the headline of a page, for formats that show it.
 */
export function startDelivering(
  ctx: AppContext,
  egress: Egress = createEgress(ctx),
  readHeadline?: ReadHeadline,
  throttle: LoadThrottle = createLoadThrottle(ctx.clock),
): Deliverer {
  return new Delivering(ctx, egress, readHeadline, throttle);
}

class Delivering implements Deliverer {
  readonly #ctx: AppContext;
  readonly #steadyNow: () => number;
  readonly #queue: DeliveryQueue;
  readonly #recorder: Recorder;
  readonly #throttle: LoadThrottle;
  readonly #attempt;
  readonly #tries = new TryCounts();
  readonly #awaited: AwaitedMails;
  /** Attempts in progress. */
  readonly #underWay = new Set<Promise<void>>();
  /** Number of attempts whose message is not written yet in this turn. */
  #starting = 0;
  readonly #cleanup: QueueCleanup;
  readonly #aborter = new AbortController();
  readonly #unsubscribe: (() => void)[];
  readonly #tick: Timer;
  readonly #backoff = new Backoff(BACKOFF_MS.first, BACKOFF_MS.longest);
  #timer: Timer | undefined;
  #throttleTimer: Timer | undefined;
  readonly #turn = new OncePerTurn(() => this.#run());
  #isStopped = false;
  #whenIdle: (() => void)[] = [];

  constructor(
    ctx: AppContext,
    egress: Egress,
    readHeadline: ReadHeadline | undefined,
    throttle: LoadThrottle,
  ) {
    const { clock, db, signals } = ctx;
    this.#ctx = ctx;
    this.#throttle = throttle;
    this.#steadyNow = monotonicWallClock(clock);
    this.#queue = new DeliveryQueue(db, this.#steadyNow, (id) => void this.#cleanup.cancelAll(id));
    this.#recorder = createRecorder(ctx, this.#steadyNow);
    this.#cleanup = new QueueCleanup(ctx, () => this.#turn.schedule());
    this.#awaited = new AwaitedMails(ctx, (begun) => this.#release(begun));
    this.#attempt = lazy(async () => {
      const { createAttempt } = await import("./attempt");
      return createAttempt(ctx, egress, readHeadline);
    });
    this.#unsubscribe = [
      signals.deliveriesQueued.on((id) => {
        this.#queue.wake(id);
        this.#turn.schedule();
      }),
      signals.deliveriesBatched.on(() => void this.#cleanup.writeBatches()),
      signals.databaseChangedElsewhere.on(() => this.#rescan()),
    ];
    // Finds changes without a signal, such as a clock that was set forward.
    this.#tick = clock.every(MINUTE_MS, () => this.#rescan());
    this.#rescan();
    if (this.#queue.isActive) void this.#capDueTimes();
  }

  stats(): DelivererFigures {
    return { underWay: this.#underWay.size, tries: this.#tries.byEndpoint };
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
    this.#awaited.stop();
    this.#tick.cancel();
    this.#timer?.cancel();
    this.#throttleTimer?.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    const overdue = this.#ctx.clock.after(drainMs, () => this.#aborter.abort());
    await Promise.all(this.#underWay);
    overdue.cancel();
    await this.#recorder.flush();
    this.#recorder.stop();
  }

  #rescan(): void {
    try {
      this.#queue.rescan();
      this.#awaited.check();
      if (hasBatches(this.#ctx.db)) void this.#cleanup.writeBatches();
    } catch (error) {
      this.#ctx.log.error({ err: error }, "the delivery queue cannot be read");
    }
    this.#turn.schedule();
  }

  #run(): void {
    // A delivery whose result cannot be recorded would be sent again and again.
    if (this.#recorder.isStuck) return;
    try {
      this.#beginAll();
      this.#wakeWhenDue();
    } catch (error) {
      this.#ctx.log.error({ err: error }, "the delivery queue cannot be read");
      this.#retryLater();
    }
    if (this.#underWay.size > 0 || this.#queue.isActive) return;
    // No other result is worth waiting for.
    void this.#recorder.flush();
    if (this.#cleanup.underWay > 0 || this.#turn.isScheduled || !this.#recorder.isEmpty) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #beginAll(): void {
    let isThrottled = false;
    const canStart = () => {
      if (this.#starting === STARTED_PER_TURN) return false;
      isThrottled = !this.#throttle.take();
      return !isThrottled;
    };
    for (const begun of this.#queue.begin(canStart)) this.#start(begun);
    if (!isThrottled) return;
    this.#throttleTimer ??= this.#ctx.clock.after(this.#throttle.waitMs(), () => {
      this.#throttleTimer = undefined;
      this.#turn.schedule();
    });
  }

  #wakeWhenDue(): void {
    this.#timer?.cancel();
    const dueAt = this.#queue.nextDueAt();
    if (dueAt === Number.POSITIVE_INFINITY) return;
    // A timer of more than 24 days would fire at once.
    const waitMs = Math.min(DAY_MS, Math.max(0, dueAt - this.#steadyNow()));
    this.#timer = this.#ctx.clock.after(waitMs, () => {
      this.#queue.wakeDue();
      this.#turn.schedule();
    });
  }

  #start(begun: Begun): void {
    this.#starting += 1;
    const ended = this.#try(begun).finally(() => {
      this.#underWay.delete(ended);
      this.#turn.schedule();
    });
    this.#underWay.add(ended);
  }

  /** Resolves when the attempt has ended and its result was passed to the recorder. */
  async #try(begun: Begun): Promise<void> {
    const { queue, due } = begun;
    let outcome: TryResult | NoTry | undefined;
    try {
      const attempt = await this.#attempt().finally(() => {
        this.#starting -= 1;
        this.#turn.schedule();
      });
      outcome = await attempt(due.id, this.#aborter.signal);
    } catch (error) {
      this.#ctx.log.error({ err: error, delivery: due.id }, "a delivery could not be attempted");
    }
    const isHeld = outcome === undefined || outcome === "local_fault" || outcome === "awaits_mail";
    if (isHeld) queue.hold(due);
    else queue.end(due);
    // An aborted attempt does not count.
    if (this.#aborter.signal.aborted) return;
    if (outcome === undefined) this.#retryLater(begun);
    else if (outcome === "awaits_mail") this.#awaited.add(begun);
    else if (outcome === "ended") this.#queue.release(begun);
    else if (outcome === "no_message") void this.#discardDelivery(begun);
    else if (outcome === "local_fault") {
      this.#retryLater(begun, this.#backoff.nextWaitMs(this.#steadyNow()));
    } else {
      this.#backoff.reset();
      void this.#record(begun, outcome);
    }
  }

  async #record(begun: Begun, result: TryResult): Promise<void> {
    const nextTryAt = await this.#recorder.add({ deliveryId: begun.due.id, result });
    this.#tries.add(begun.queue.webhookId, isSuccess(result.statusCode));
    this.#release(begun, nextTryAt);
  }

  #release(begun: Begun, nextTryAt?: number): void {
    this.#queue.release(begun, nextTryAt);
    this.#turn.schedule();
  }

  async #discardDelivery(begun: Begun): Promise<void> {
    if (await this.#cleanup.discardDelivery(begun.due.id)) this.#queue.release(begun);
    else this.#retryLater(begun);
  }

  async #capDueTimes(): Promise<void> {
    const hasCapped = await this.#cleanup.capDueTimes(this.#steadyNow());
    if (hasCapped && !this.#isStopped) this.#rescan();
  }

  #retryLater(begun?: Begun, waitMs: number = AGAIN_AFTER_MS): void {
    this.#ctx.clock.after(waitMs, () => (begun ? this.#release(begun) : this.#turn.schedule()));
  }
}
