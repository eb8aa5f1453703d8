import { SYSTEM_ACTOR } from "../../../base/actor";
import { lazy } from "../../../base/lazy";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import { type DeliveryStatus, GROUP_SECONDS } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import { changedRow, type Tx } from "../../../db/statements";
import { createEgress, type Egress } from "../../../egress/egress";
import { audit } from "../../../events/audit";
import { Backoff, monotonicWallClock, QueueCleanup, SendingLoop } from "../../sending/loop";
import { drawChance, ResultRecorder } from "../../sending/results";
import { createLoadThrottle, type LoadThrottle } from "../../sending/throttle";
import { AwaitedMails } from "../alerts/alerts";
import {
  addToWebhookHour,
  cancelDelivery,
  cancelPending,
  capDueTimesAfter,
  deleteUntried,
  findDeliveryProgress,
  hasBatches,
  insertTry,
  setDeliveryProgress,
  type TryRow,
} from "../delivery-store";
import { writeBatchedDeliveries } from "../enqueue";
import { clipTo } from "../formats/markup";
import { nameInWords, wakeDeliverer } from "../records";
import { canRetry, classifyAttempt, classifyRefusal, isSuccess, LONGEST_WAIT_MS } from "../rules";
import { findWebhook, setFailingSince, setPause, updateWebhookRow } from "../store";
import { type Begun, DeliveryQueue, type Slot } from "./delivery-queue";
import { isPutOff, type NoTry, type ReadHeadline, type TryResult } from "./message";

/** Load and counters of the deliverer. */
export interface DelivererFigures {
  /** Attempts in progress. */
  underWay: number;
  /** Attempts that ended since the start, by endpoint. */
  tries: ReadonlyMap<string, EndedTries>;
}

/** Outcomes of attempts. A refused one is repeated after a pause and uses up no retry. */
export const TRY_OUTCOMES = ["succeeded", "failed", "refused"] as const;
type TryOutcome = (typeof TRY_OUTCOMES)[number];

type EndedTries = Record<TryOutcome, number>;

/** Runs deliveries while the server runs. */
interface Deliverer {
  /** Lets attempts in progress end for `drainMs`, aborts the rest for a later retry, and records results. */
  stop(drainMs: number): Promise<void>;
  stats(): DelivererFigures;
  /** Resolves when nothing can begin now, is under way or unrecorded. */
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
  ctx: Ctx,
  egress: Egress = createEgress(ctx),
  readHeadline?: ReadHeadline,
  throttle: LoadThrottle = createLoadThrottle(ctx.clock),
): Deliverer {
  return new Delivering(ctx, egress, readHeadline, throttle);
}

class Delivering implements Deliverer {
  readonly #ctx: Ctx;
  readonly #steadyNow: () => number;
  readonly #queue: DeliveryQueue;
  readonly #recorder: Recorder;
  readonly #throttle: LoadThrottle;
  readonly #attempt;
  readonly #tries = new TryCounts();
  readonly #awaited: AwaitedMails;
  /** Number of attempts whose message is not written yet in this turn. */
  #starting = 0;
  readonly #cleanup: DeliveryCleanup;
  readonly #loop: SendingLoop;
  readonly #unfollow: (() => void)[];
  readonly #backoff = new Backoff(BACKOFF_MS.first, BACKOFF_MS.longest);

  constructor(
    ctx: Ctx,
    egress: Egress,
    readHeadline: ReadHeadline | undefined,
    throttle: LoadThrottle,
  ) {
    const { clock, signals } = ctx;
    this.#ctx = ctx;
    this.#throttle = throttle;
    this.#steadyNow = monotonicWallClock(clock);
    this.#queue = new DeliveryQueue(ctx, this.#steadyNow, (id) => void this.#cleanup.cancelAll(id));
    this.#recorder = createRecorder(ctx, this.#steadyNow);
    this.#cleanup = new DeliveryCleanup(ctx, "the delivery queue could not be cleaned up", () =>
      this.#loop.schedule(),
    );
    this.#loop = new SendingLoop(ctx, {
      begin: () => this.#beginAll(),
      isActive: () => this.#queue.isActive,
      results: this.#recorder,
      cleanup: this.#cleanup,
      unreadable: "the delivery queue cannot be read",
    });
    this.#awaited = new AwaitedMails(ctx, (begun) => this.#release(begun));
    this.#attempt = lazy(async () => {
      const { createAttempt } = await import("./attempt");
      return createAttempt(ctx, egress, readHeadline);
    });
    // Finds changes without a signal, such as a clock that was set forward.
    const tick = clock.every(MINUTE_MS, () => this.#rescan());
    this.#unfollow = [
      signals.deliveriesQueued.on((id) => {
        this.#queue.wake(id);
        this.#loop.schedule();
      }),
      signals.deliveriesBatched.on(() => void this.#cleanup.writeBatches()),
      signals.databaseChangedElsewhere.on(() => this.#rescan()),
      this.#awaited.stop,
      () => tick.cancel(),
    ];
    this.#rescan();
    if (this.#queue.isActive) void this.#capDueTimes();
  }

  stats(): DelivererFigures {
    return { underWay: this.#loop.underWay, tries: this.#tries.byEndpoint };
  }

  whenIdle(): Promise<void> {
    return this.#loop.whenIdle();
  }

  stop(drainMs: number): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow();
    return this.#loop.stop(drainMs);
  }

  #rescan(): void {
    try {
      this.#queue.rescan();
      this.#awaited.check();
      if (hasBatches(this.#ctx.db)) void this.#cleanup.writeBatches();
    } catch (error) {
      this.#ctx.log.error({ err: error }, "the delivery queue cannot be read");
    }
    this.#loop.schedule();
  }

  /** Begins what is due. Returns the wait in ms until more is due, or the load allows it. */
  #beginAll(): number {
    this.#queue.wakeDue();
    let isThrottled = false;
    const canStart = () => {
      if (this.#starting === STARTED_PER_TURN) return false;
      isThrottled = !this.#throttle.take();
      return !isThrottled;
    };
    for (const begun of this.#queue.begin(canStart)) this.#start(begun);
    const throttledMs = isThrottled ? this.#throttle.waitMs() : Number.POSITIVE_INFINITY;
    const untilDueMs = Math.max(0, this.#queue.nextDueAt() - this.#steadyNow());
    return Math.min(throttledMs, untilDueMs, this.#queue.untilFreeMs());
  }

  #start(begun: Begun): void {
    this.#starting += 1;
    this.#loop.add(this.#try(begun));
  }

  /** Resolves when the attempt has ended and its result was passed to the recorder. */
  async #try(begun: Begun): Promise<void> {
    const { queue, due, slot } = begun;
    let outcome: TryResult | NoTry | undefined;
    try {
      const attempt = await this.#attempt().finally(() => {
        this.#starting -= 1;
        this.#loop.schedule();
      });
      outcome = await attempt(due.id, this.#loop.signal);
    } catch (error) {
      this.#ctx.log.error({ err: error, delivery: due.id }, "a delivery could not be attempted");
    }
    const pause = this.#endSlot(slot, outcome);
    const isRefused = typeof outcome === "object" && isPutOff(outcome);
    const isHeld =
      isRefused || outcome === undefined || outcome === "local_fault" || outcome === "awaits_mail";
    if (isHeld) queue.hold(due);
    else queue.end(due);
    // An aborted attempt does not count.
    if (this.#loop.signal.aborted) return;
    if (outcome === undefined) this.#retryLater(begun);
    else if (outcome === "awaits_mail") this.#awaited.add(begun);
    else if (outcome === "ended") this.#queue.release(begun);
    else if (outcome === "no_message") void this.#discardDelivery(begun);
    else if (outcome === "local_fault") {
      this.#retryLater(begun, this.#backoff.nextWaitMs(this.#steadyNow()));
    } else {
      this.#backoff.reset();
      void this.#record(begun, outcome, pause);
      // It waits for the end of the pause before later deliveries.
      if (isRefused) this.#release(begun);
    }
  }

  /** Ends an attempt at its destination. Returns the pause that begins there if the receiver refused it. */
  #endSlot(slot: Slot | undefined, outcome: TryResult | NoTry | undefined): Pause | undefined {
    if (!slot) return undefined;
    const { destination } = slot;
    const result = typeof outcome === "object" ? outcome : undefined;
    destination.end(slot, result?.latencyMs);
    if (!result) return undefined;
    if (isSuccess(result.statusCode)) destination.succeed();
    if (!result.refused) return undefined;
    const pauseMs = destination.refuse(result.refused.namedMs);
    const { key, refusingMs } = destination;
    return { destination: key, until: this.#ctx.clock.now() + pauseMs, refusingMs };
  }

  async #record(begun: Begun, result: TryResult, pause: Pause | undefined): Promise<void> {
    const deliveryId = result.members?.[0] ?? begun.due.id;
    const recorded = this.#recorder.add({ deliveryId, result, pause }, () => {
      begun.queue.giveUpPlace(begun.due);
      this.#queue.wakeEndpoint(begun.queue);
      this.#loop.schedule();
    });
    // The next ordered message waits for it.
    if (begun.due.isOrdered && !this.#recorder.isStuck) void this.#recorder.flush();
    const nextTryAt = await recorded;
    const { webhookId } = begun.queue;
    if (isPutOff(result)) {
      this.#tries.add(webhookId, "refused");
      this.#loop.schedule();
      return;
    }
    this.#tries.add(webhookId, isSuccess(result.statusCode) ? "succeeded" : "failed");
    this.#release(begun, nextTryAt);
  }

  #release(begun: Begun, nextTryAt?: number): void {
    this.#queue.release(begun, nextTryAt);
    this.#loop.schedule();
  }

  async #discardDelivery(begun: Begun): Promise<void> {
    if (await this.#cleanup.discardDelivery(begun.due.id)) this.#queue.release(begun);
    else this.#retryLater(begun);
  }

  async #capDueTimes(): Promise<void> {
    const hasCapped = await this.#cleanup.capDueTimes(this.#steadyNow());
    if (hasCapped && !this.#loop.isStopped) this.#rescan();
  }

  #retryLater(begun: Begun, waitMs: number = AGAIN_AFTER_MS): void {
    this.#ctx.clock.after(waitMs, () => this.#release(begun));
  }
}

/** Counts ended attempts by endpoint. */
class TryCounts {
  readonly #counts = new Map<string, EndedTries>();

  get byEndpoint(): ReadonlyMap<string, EndedTries> {
    return this.#counts;
  }

  add(webhookId: string, outcome: TryOutcome): void {
    const before = this.#counts.get(webhookId) ?? { succeeded: 0, failed: 0, refused: 0 };
    this.#counts.set(webhookId, { ...before, [outcome]: before[outcome] + 1 });
  }
}

/** Changes of the delivery queue besides results. */
class DeliveryCleanup extends QueueCleanup {
  #isWritingBatches = false;
  #hasNewBatches = false;

  /** Cancels the pending deliveries of a disabled endpoint, some per transaction. */
  cancelAll(webhookId: string): Promise<void> {
    return this.runCancelling(webhookId, (tx, limit) =>
      cancelPending(tx, { webhookId, now: this.ctx.clock.now(), limit }),
    );
  }

  /** Writes batched deliveries as rows, some per transaction. */
  async writeBatches(): Promise<void> {
    this.#hasNewBatches = true;
    if (this.#isWritingBatches) return;
    this.#isWritingBatches = true;
    const writeSome = (tx: Tx) => writeBatchedDeliveries(this.ctx, tx);
    while (this.#hasNewBatches) {
      // Reset before the transaction, so that a batch added meanwhile causes another pass.
      this.#hasNewBatches = false;
      await this.repeat(async () => (await this.run(writeSome)) === true);
    }
    this.#isWritingBatches = false;
  }

  /**
   * Makes deliveries due whose due time is later than any delay allows, which happens if the clock
   * was set back. Returns true if there were any.
   */
  async capDueTimes(now: number): Promise<boolean> {
    const latest = now + LONGEST_WAIT_MS;
    const gatheredUntil = now + GROUP_SECONDS.max * SECOND_MS;
    const capped = await this.runAll((tx, limit) =>
      capDueTimesAfter(tx, { now, gatheredUntil, latest, limit }),
    );
    return capped > 0;
  }

  /**
   * Discards a delivery without a message: deletes it, or cancels it if it had attempts. Returns
   * true on success.
   */
  async discardDelivery(id: string): Promise<boolean> {
    const discardDelivery = (tx: Tx) =>
      deleteUntried(tx, { id }) > 0 || cancelDelivery(tx, { id, now: this.ctx.clock.now() }) > 0;
    return (await this.run(discardDelivery)) !== undefined;
  }
}

/** An ended attempt of a delivery. */
interface EndedAttempt {
  /** The oldest one of a group. */
  deliveryId: string;
  result: TryResult;
  /** Pause that it begins at its destination. */
  pause?: Pause | undefined;
}

/** Pause of a destination. */
interface Pause {
  /** Digest of the destination. */
  destination: string;
  /** End in unix ms. */
  until: number;
  /** As `Destination` counts it. */
  refusingMs: number;
}

/** Writes results of attempts; `add` resolves with the time of the next one, if there is one. */
type Recorder = ResultRecorder<EndedAttempt, number | undefined>;

export function createRecorder(ctx: Ctx, steadyNow: () => number): Recorder {
  return new ResultRecorder(ctx, {
    write(tx, { deliveryId, result, pause }) {
      if (pause) setPause(tx, pause);
      if (!isPutOff(result)) return recordTry(ctx, tx, deliveryId, result, steadyNow());
      recordRefusal(ctx, tx, deliveryId, result, pause?.refusingMs ?? 0);
      return undefined;
    },
    describe: ({ deliveryId }) => ({ delivery: deliveryId }),
    waiting: "deliveries wait until their results can be recorded",
    lost: "a delivery's result cannot be recorded",
  });
}

/** Length of the response that is kept with each delivery of a group but the oldest, which has all of it. */
const SHORT_ANSWER = 1_000;

/**
 * Writes the result of an attempt with its consequences for delivery and endpoint. `steadyNow` is
 * the start of delays, from `monotonicWallClock`. Returns the time of the next attempt by that
 * clock, if there is one.
 */
export function recordTry(
  ctx: Ctx,
  tx: Tx,
  deliveryId: string,
  result: TryResult,
  steadyNow: number,
): number | undefined {
  const { permanent, refused: _, members = [deliveryId], ...stored } = result;
  const progress = members
    .values()
    .map((id) => findDeliveryProgress(tx, { id }))
    .find((found) => found !== undefined);
  // All were deleted meanwhile with their events or pages.
  if (!progress) return undefined;
  const { webhookId, tries, triesBefore, eventType, failingSince } = progress;
  const endedAt = result.at + result.latencyMs;
  const outcome = classifyAttempt({
    statusCode: result.statusCode,
    permanent,
    endedAt,
    failuresBefore: tries - triesBefore,
    canRetry: canRetry(eventType),
    failingSince,
    chance: drawChance(ctx),
  });
  const nextTryAt =
    outcome.status === "pending" && outcome.waitMs !== undefined
      ? steadyNow + outcome.waitMs
      : null;
  for (const [index, id] of members.entries()) {
    const answer = index === 0 ? stored.answer : shortened(stored.answer);
    recordFor(ctx, tx, id, { ...stored, answer }, { ...outcome, nextTryAt, endedAt });
  }
  const hasSucceeded = isSuccess(result.statusCode);
  addToWebhookHour(tx, {
    webhookId,
    hour: endedAt - (endedAt % HOUR_MS),
    succeeded: hasSucceeded ? 1 : 0,
    failed: hasSucceeded ? 0 : 1,
  });
  if (outcome.failingSince !== failingSince) {
    setFailingSince(tx, { id: webhookId, failingSince: outcome.failingSince });
  }
  if (outcome.disable !== undefined) disable(ctx, tx, webhookId, outcome.disable);
  return nextTryAt ?? undefined;
}

/** Writes the result of an attempt for one of the deliveries that were sent together. */
function recordFor(
  ctx: Ctx,
  tx: Tx,
  deliveryId: string,
  stored: Omit<TryRow, "deliveryId" | "number">,
  outcome: { status: DeliveryStatus; nextTryAt: number | null; endedAt: number },
): void {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  // It was deleted meanwhile.
  if (!progress) return;
  const tries = progress.tries + 1;
  insertTry(tx, { deliveryId, number: tries, ...stored });
  tx.afterCommit(() => ctx.signals.deliveryTried.emit(deliveryId));
  // A delivery that was cancelled meanwhile stays cancelled, unless it succeeded.
  const isCalledOff = progress.status === "cancelled" && outcome.status !== "delivered";
  const nextTryAt = isCalledOff ? null : outcome.nextTryAt;
  setDeliveryProgress(tx, {
    id: deliveryId,
    status: isCalledOff ? "cancelled" : outcome.status,
    tries,
    nextTryAt,
    finishedAt: nextTryAt === null ? outcome.endedAt : null,
  });
}

function shortened(answer: string | null): string | null {
  return answer === null ? null : clipTo(answer, SHORT_ANSWER);
}

/** Writes a refusal with its consequence for the endpoint. The delivery stays due, and the refusal is no attempt of it. */
function recordRefusal(
  ctx: Ctx,
  tx: Tx,
  deliveryId: string,
  { at, latencyMs }: TryResult,
  refusingMs: number,
): void {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  if (!progress) return;
  const { webhookId, failingSince } = progress;
  const outcome = classifyRefusal({ endedAt: at + latencyMs, refusingMs, failingSince });
  if (outcome.failingSince !== failingSince) {
    setFailingSince(tx, { id: webhookId, failingSince: outcome.failingSince });
  }
  if (outcome.disable !== undefined) disable(ctx, tx, webhookId, outcome.disable);
}

/**
 * Disables an endpoint. The deliverer cancels its waiting deliveries in small steps, since there
 * can be many.
 */
function disable(ctx: Ctx, tx: Tx, id: string, reason: string): void {
  const row = findWebhook(tx, { id });
  if (!row?.enabled) return;
  const changed = changedRow(ctx, row);
  const disabledAt = changed.updatedAt;
  updateWebhookRow(tx, { ...changed, enabled: false, disabledReason: reason, disabledAt });
  audit(ctx, tx, SYSTEM_ACTOR, "webhook.disable", id, `Disabled ${nameInWords(row)}: ${reason}`);
  wakeDeliverer(ctx, tx, id);
}
