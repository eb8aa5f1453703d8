import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { repeatWithRests } from "../../base/numbers";

/** Changes of a queue besides results. Failed ones are logged; the next scan of the queue finds their rows again. */
export class QueueChanges {
  readonly #ctx: Ctx;
  #underWay = 0;
  #isStopped = false;

  constructor(
    ctx: Ctx,
    /** Log line of a failed change. */
    readonly failed: string,
    /** Called after each change. */
    readonly ended: () => void,
  ) {
    this.#ctx = ctx;
  }

  /** Number of changes that are not stored yet. */
  get underWay(): number {
    return this.#underWay;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Ends `runAll` after the current step. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Returns the result of a change; undefined if it failed. */
  async run<T>(change: (tx: Tx) => T): Promise<T | undefined> {
    this.#underWay += 1;
    try {
      return await this.#ctx.db.write(change);
    } catch (error) {
      this.#ctx.log.warn({ err: error }, this.failed);
      return undefined;
    } finally {
      this.#underWay -= 1;
      this.ended();
    }
  }

  /**
   * Repeats a change of at most `limit` rows, which returns their number, until one changes fewer, with a rest after
   * each. Returns the number of all changed rows.
   */
  async runAll(limit: number, change: (tx: Tx) => number): Promise<number> {
    let all = 0;
    await this.repeat(async () => {
      const changed = (await this.run(change)) ?? 0;
      all += changed;
      return changed >= limit;
    });
    return all;
  }

  /** Repeats a step until it resolves to false or the changes are stopped, with a rest after each. */
  async repeat(step: () => Promise<boolean>): Promise<void> {
    await repeatWithRests(this.#ctx.clock, async () => !this.#isStopped && (await step()));
  }
}
