import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import type { MailClass } from "../../../base/mail-address";
import { QueueChanges } from "../../outgoing/queue-changes";
import { holdAllMailings } from "../hold";
import { cancelMailsOfMailing, expireMails, hasExpired } from "../queue";
import { capDueTimesAfter } from "../ending-store";
import { type RelayRecord, storeRelayRecord } from "../relay-record";
import { LONGEST_WAIT_MS } from "../rules";

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;
/** Time after which a stop of all mailings is written again. */
const HOLD_AGAIN_MS = 1_000;
const CLASSES: readonly MailClass[] = [1, 2, 3];

/** Cleans up the queue of mails. Failed writes are logged and found again by the next scan. */
export class MailCleanup {
  readonly #ctx: Ctx;
  readonly #changes: QueueChanges;
  readonly #beingCancelled = new Set<string>();
  #unwrittenHold: { since: number } | undefined;

  constructor(
    ctx: Ctx,
    /** Called after each write. */
    ended: () => void,
  ) {
    this.#ctx = ctx;
    this.#changes = new QueueChanges(ctx, "the queue of mails could not be cleaned up", ended);
  }

  /** True if all mailings are to be stopped, but the database does not say so yet. */
  get hasUnwrittenHold(): boolean {
    return this.#unwrittenHold !== undefined;
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
    if (!this.#hasExpired()) return;
    const expireSome = (tx: Tx) => expireMails(this.#ctx, tx, ROWS_PER_BATCH);
    await this.#changes.runAll(ROWS_PER_BATCH, expireSome);
  }

  #hasExpired(): boolean {
    const { clock, db, log } = this.#ctx;
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
      const limits = { class: one, now, latest, limit: ROWS_PER_BATCH };
      count += await this.#changes.runAll(ROWS_PER_BATCH, (tx) => capDueTimesAfter(tx, limits));
    }
    if (count > 0) capped();
  }

  /** Stores the state of the relay for people; undefined if it is not known any more. */
  async record(relay: RelayRecord | undefined): Promise<void> {
    const { clock } = this.#ctx;
    await this.#changes.run((tx) => storeRelayRecord(tx, relay, clock.now()));
  }

  /** Stops all mailings, since too many of their mails failed. A failed write is repeated. */
  async hold(since: number): Promise<void> {
    if (this.#unwrittenHold !== undefined) return;
    this.#unwrittenHold = { since };
    await this.#writeHold();
  }

  async #writeHold(): Promise<void> {
    const hold = this.#unwrittenHold;
    if (!hold || this.#changes.isStopped) return;
    const isNew = await this.#changes.run((tx) =>
      holdAllMailings(this.#ctx, tx, { reason: "failures", since: hold.since }),
    );
    if (isNew === undefined) {
      this.#ctx.clock.after(HOLD_AGAIN_MS, () => void this.#writeHold());
      return;
    }
    this.#unwrittenHold = undefined;
    if (!isNew) return;
    this.#ctx.log.error(
      {},
      "mailings are held, since more than a fifth of their last mails failed",
    );
  }
}
