import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import { cancelPending, deleteDelivery, hastenFirstTries } from "../delivery-store";

const CANCELLED_AT_ONCE = 500;

/**
 * What is to be tidied in the database besides results. What that refuses is left as it is: whoever looks
 * around next finds it again.
 */
export class Errands {
  readonly #ctx: Pick<AppContext, "clock" | "db" | "log">;
  readonly #beingCancelled = new Set<string>();
  #underWay = 0;
  #isStopped = false;

  constructor(
    ctx: Pick<AppContext, "clock" | "db" | "log">,
    /** Told whenever one has ended. */
    readonly ended: () => void,
  ) {
    this.#ctx = ctx;
  }

  get underWay(): number {
    return this.#underWay;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Cancels what waits for an endpoint that takes nothing, a little a transaction. */
  async cancelAll(webhookId: string): Promise<void> {
    if (this.#beingCancelled.has(webhookId)) return;
    this.#beingCancelled.add(webhookId);
    const cancelSome = (tx: Tx) =>
      cancelPending(tx, { webhookId, now: this.#ctx.clock.now(), limit: CANCELLED_AT_ONCE });
    while (!this.#isStopped && (await this.#run(cancelSome)) === CANCELLED_AT_ONCE);
    this.#beingCancelled.delete(webhookId);
  }

  /**
   * Makes due what was to be tried first after `now`: the clock was set back while nobody noticed.
   * Whether there was any.
   */
  async hasten(now: number): Promise<boolean> {
    return ((await this.#run((tx) => hastenFirstTries(tx, { now }))) ?? 0) > 0;
  }

  /** Takes back a delivery for which there is nothing to send. Whether that is done. */
  async takeBack(id: string): Promise<boolean> {
    return (await this.#run((tx) => deleteDelivery(tx, { id }))) !== undefined;
  }

  async #run<T>(change: (tx: Tx) => T): Promise<T | undefined> {
    this.#underWay += 1;
    try {
      return await this.#ctx.db.write(change);
    } catch (error) {
      this.#ctx.log.warn({ err: error }, "the queue of deliveries could not be tidied");
      return undefined;
    } finally {
      this.#underWay -= 1;
      this.ended();
    }
  }
}
