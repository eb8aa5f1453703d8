import type { AppContext } from "../../../context";
import { Problem } from "../../../errors";
import type { Timer } from "../../../kernel/clock";
import type { Tx } from "../../../db";
import { audit } from "../../../events";
import { SYSTEM_ACTOR } from "../../../domain/actor";
import { HOUR_MS } from "../../../kernel/time";
import { nameInWords, wakeDeliverer } from "../changes";
import {
  addToWebhookHour,
  findDeliveryProgress,
  insertTry,
  setDeliveryProgress,
} from "../delivery-store";
import { isSuccess, classifyAttempt } from "../rules";
import { findWebhook, setFailingSince, updateWebhookRow } from "../store";
import type { TryResult } from "./attempt";

/** Time for which results are gathered to share a commit. */
const GATHER_MS = 50;
const GATHER_MOST = 64;
const AGAIN_AFTER_MS = 1_000;

interface Unwritten {
  deliveryId: string;
  result: TryResult;
  /**
   * Called with the time of the next attempt, if there is one; never if the result cannot be
   * written.
   */
  recorded: (nextTryAt: number | undefined) => void;
}

/**
 * Writes results in groups. Results that the database refuses, for example with a full disk, are
 * kept and written later. Meanwhile `isStuck` is true and no attempt should start, since its result
 * could not be written.
 */
export class Recorder {
  readonly #ctx: Pick<AppContext, "clock" | "db" | "log" | "random" | "signals">;
  readonly #steadyNow: () => number;
  #gathered: Unwritten[] = [];
  #writing = 0;
  /** Resolves when no write is in progress. */
  #written = Promise.resolve();
  #timer: Timer | undefined;
  #isStuck = false;

  constructor(
    ctx: Pick<AppContext, "clock" | "db" | "log" | "random" | "signals">,
    steadyNow: () => number,
  ) {
    this.#ctx = ctx;
    this.#steadyNow = steadyNow;
  }

  get isStuck(): boolean {
    return this.#isStuck;
  }

  get isEmpty(): boolean {
    return this.#gathered.length === 0 && this.#writing === 0;
  }

  /** Resolves when the result is written, with the time of the next attempt if there is one. */
  add(deliveryId: string, result: TryResult): Promise<number | undefined> {
    return new Promise((recorded) => {
      this.#gathered.push({ deliveryId, result, recorded });
      if (this.#isStuck) return;
      if (this.#gathered.length >= GATHER_MOST) void this.flush();
      else this.#timer ??= this.#ctx.clock.after(GATHER_MS, () => void this.flush());
    });
  }

  /** Writes the gathered results. Resolves when all are written or kept for later. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const batch = this.#gathered;
    this.#gathered = [];
    this.#writing += batch.length;
    // Writes of one turn share a commit. A failed write does not undo the others.
    const written = [this.#written, ...batch.map((unwritten) => this.#write(unwritten))];
    this.#written = Promise.all(written).then(() => undefined);
    return this.#written;
  }

  async #write(unwritten: Unwritten): Promise<void> {
    const { deliveryId, result, recorded } = unwritten;
    try {
      const nextTryAt = await this.#ctx.db.write((tx) =>
        recordTry(this.#ctx, tx, deliveryId, result, this.#steadyNow()),
      );
      this.#writing -= 1;
      this.#isStuck = false;
      this.#writeGatheredSoon();
      recorded(nextTryAt);
    } catch (error) {
      this.#writing -= 1;
      if (error instanceof Problem) this.#keep(unwritten, error);
      // Not attempted again before the next start, since it would be sent without end.
      else {
        this.#ctx.log.error(
          { err: error, delivery: deliveryId },
          "a delivery's result cannot be recorded",
        );
        // No earlier result waits to be written.
        if (this.#gathered.length === 0) this.#isStuck = false;
      }
    }
  }

  /** Writes results that arrived while it was stuck. */
  #writeGatheredSoon(): void {
    if (this.#gathered.length === 0) return;
    this.#timer ??= this.#ctx.clock.after(GATHER_MS, () => void this.flush());
  }

  #keep(unwritten: Unwritten, error: unknown): void {
    this.#gathered.push(unwritten);
    if (!this.#isStuck) {
      this.#ctx.log.error({ err: error }, "deliveries wait until their results can be recorded");
    }
    this.#isStuck = true;
    this.#timer ??= this.#ctx.clock.after(AGAIN_AFTER_MS, () => void this.flush());
  }

  /** Discards results that are not written. */
  stop(): void {
    this.#timer?.cancel();
    this.#gathered = [];
  }
}

const CHANCE_BYTES = 4;

/**
 * Writes the result of an attempt with its consequences for delivery and endpoint. `steadyNow` is
 * the start of delays, from `monotonicWallClock`. Returns the time of the next attempt by that
 * clock, if there is one.
 */
export function recordTry(
  ctx: Pick<AppContext, "clock" | "random" | "signals">,
  tx: Tx,
  deliveryId: string,
  result: TryResult,
  steadyNow: number,
): number | undefined {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  // It was deleted meanwhile with its event or page.
  if (!progress) return undefined;
  const { webhookId, tries, triesBefore, eventType, failingSince } = progress;
  const { retryAfter, ...stored } = result;
  const endedAt = result.at + result.latencyMs;
  const outcome = classifyAttempt({
    statusCode: result.statusCode,
    retryAfter,
    endedAt,
    failuresBefore: tries - triesBefore,
    canRetry: eventType !== "webhook.test",
    failingSince,
    chance: Buffer.from(ctx.random(CHANCE_BYTES)).readUInt32BE() / 2 ** 32,
  });
  insertTry(tx, { deliveryId, number: tries + 1, ...stored });
  tx.afterCommit(() => ctx.signals.deliveryTried.emit(deliveryId));
  // A delivery that was cancelled meanwhile stays cancelled, unless it succeeded.
  const isCalledOff = progress.status === "cancelled" && outcome.status !== "delivered";
  const status = isCalledOff ? "cancelled" : outcome.status;
  const nextTryAt =
    status === "pending" && outcome.waitMs !== undefined ? steadyNow + outcome.waitMs : null;
  setDeliveryProgress(tx, {
    id: deliveryId,
    status,
    tries: tries + 1,
    nextTryAt,
    finishedAt: nextTryAt === null ? endedAt : null,
  });
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

/**
 * Disables an endpoint. The deliverer cancels its waiting deliveries in small steps, since there
 * can be many.
 */
function disable(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  id: string,
  reason: string,
): void {
  const row = findWebhook(tx, { id });
  if (!row?.enabled) return;
  const now = ctx.clock.now();
  updateWebhookRow(tx, {
    ...row,
    enabled: false,
    disabledReason: reason,
    disabledAt: now,
    version: row.version + 1,
    updatedAt: now,
  });
  audit(ctx, tx, SYSTEM_ACTOR, "webhook.disable", id, `Disabled ${nameInWords(row)}: ${reason}`);
  wakeDeliverer(ctx, tx, id);
}
