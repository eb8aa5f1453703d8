import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { GROUP_SECONDS } from "../../../base/webhook";
import { SECOND_MS } from "../../../base/time";
import { cancelDelivery, cancelPending, deleteUntried, capDueTimesAfter } from "../delivery-store";
import { writeBatchedDeliveries } from "../enqueue";
import { LONGEST_WAIT_MS } from "../rules";
import { QueueChanges } from "../../outgoing/queue-changes";

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

/** Cleans up the delivery queue. Failed writes are logged and found again by the next scan. */
export class QueueCleanup {
  readonly #ctx: Ctx;
  readonly #beingCancelled = new Set<string>();
  #isWritingBatches = false;
  #hasNewBatches = false;
  readonly #changes: QueueChanges;

  constructor(
    ctx: Ctx,
    /** Called after each write. */
    ended: () => void,
  ) {
    this.#ctx = ctx;
    this.#changes = new QueueChanges(ctx, "the delivery queue could not be cleaned up", ended);
  }

  get underWay(): number {
    return this.#changes.underWay;
  }

  stop(): void {
    this.#changes.stop();
  }

  /** Cancels the pending deliveries of a disabled endpoint, some per transaction. */
  async cancelAll(webhookId: string): Promise<void> {
    if (this.#beingCancelled.has(webhookId)) return;
    this.#beingCancelled.add(webhookId);
    const cancelSome = (tx: Tx) =>
      cancelPending(tx, { webhookId, now: this.#ctx.clock.now(), limit: ROWS_PER_BATCH });
    await this.#changes.runAll(ROWS_PER_BATCH, cancelSome);
    this.#beingCancelled.delete(webhookId);
  }

  /** Writes batched deliveries as rows, some per transaction. */
  async writeBatches(): Promise<void> {
    this.#hasNewBatches = true;
    if (this.#isWritingBatches) return;
    this.#isWritingBatches = true;
    const writeSome = (tx: Tx) => writeBatchedDeliveries(this.#ctx, tx);
    while (this.#hasNewBatches) {
      // Reset before the transaction, so that a batch added meanwhile causes another pass.
      this.#hasNewBatches = false;
      await this.#changes.repeat(async () => (await this.#changes.run(writeSome)) === true);
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
    const capSome = (tx: Tx) =>
      capDueTimesAfter(tx, { now, gatheredUntil, latest, limit: ROWS_PER_BATCH });
    return (await this.#changes.runAll(ROWS_PER_BATCH, capSome)) > 0;
  }

  /**
   * Discards a delivery without a message: deletes it, or cancels it if it had attempts. Returns
   * true on success.
   */
  async discardDelivery(id: string): Promise<boolean> {
    const discardDelivery = (tx: Tx) =>
      deleteUntried(tx, { id }) > 0 || cancelDelivery(tx, { id, now: this.#ctx.clock.now() }) > 0;
    return (await this.#changes.run(discardDelivery)) !== undefined;
  }
}
