import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import type { MailClass } from "../../../domain/mail";
import { QueueChanges } from "../../outgoing";
import { holdAllMailings } from "../hold";
import { cancelMailsOfMailing, expireMails, hasExpired } from "../queue";
import { capDueTimesAfter } from "../ending-store";
import { LONGEST_WAIT_MS } from "../rules";

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;
const CLASSES: readonly MailClass[] = [1, 2, 3];

/** Cleans up the queue of mails. Failed writes are logged and found again by the next scan. */
export class MailCleanup {
  readonly #ctx: AppContext;
  readonly #changes: QueueChanges;
  readonly #beingCancelled = new Set<string>();

  constructor(
    ctx: AppContext,
    /** Called after each write. */
    ended: () => void,
  ) {
    this.#ctx = ctx;
    this.#changes = new QueueChanges(ctx, "the queue of mails could not be cleaned up", ended);
  }

  get underWay(): number {
    return this.#changes.underWay;
  }

  stop(): void {
    this.#changes.stop();
  }

  /** Cancels the pending mails of a stopped mailing, some per transaction. */
  async cancelAll(mailingId: string): Promise<void> {
    if (this.#beingCancelled.has(mailingId)) return;
    this.#beingCancelled.add(mailingId);
    const cancelSome = (tx: Tx) => cancelMailsOfMailing(this.#ctx, tx, mailingId, ROWS_PER_BATCH);
    await this.#changes.runAll(ROWS_PER_BATCH, cancelSome);
    this.#beingCancelled.delete(mailingId);
  }

  /** Ends mails whose time is over, also while nothing can be sent. */
  async expireAll(): Promise<void> {
    for (const one of CLASSES) {
      if (!this.#hasExpired(one)) continue;
      const expireSome = (tx: Tx) => expireMails(this.#ctx, tx, one, ROWS_PER_BATCH);
      await this.#changes.runAll(ROWS_PER_BATCH, expireSome);
    }
  }

  #hasExpired(one: MailClass): boolean {
    const { clock, db, log } = this.#ctx;
    try {
      return hasExpired(db, one, clock.now(), ROWS_PER_BATCH);
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
      const limits = { class: one, now, latest, limit: ROWS_PER_BATCH };
      count += await this.#changes.runAll(ROWS_PER_BATCH, (tx) => capDueTimesAfter(tx, limits));
    }
    if (count > 0) capped();
  }

  /** Stops all mailings, since too many of their mails failed. */
  async hold(since: number): Promise<void> {
    const hasHeld = await this.#changes.run((tx) => holdAllMailings(this.#ctx, tx, since));
    if (!hasHeld) return;
    this.#ctx.log.error(
      {},
      "mailings are held, since more than a fifth of their last mails failed",
    );
  }
}
