import type { AppContext } from "../../../context";
import { Problem } from "../../../errors";
import type { Timer } from "../../../kernel/clock";
import type { TryResult } from "./attempt";
import { recordTry } from "./record";

/** For so long results are gathered while others are on their way, so that they share a commit. */
const GATHER_MS = 50;
const GATHER_MOST = 64;
const AGAIN_AFTER_MS = 1_000;

interface Unwritten {
  deliveryId: string;
  result: TryResult;
  /** Told when the next try is due, if there is one. Never told where the result cannot be written. */
  recorded: (nextTryAt: number | undefined) => void;
}

/**
 * Writes results in groups. What the database refuses (a full disk) is kept and written when it can be:
 * meanwhile `isStuck`, and nobody should begin what cannot be written either.
 */
export class Recorder {
  readonly #ctx: Pick<AppContext, "clock" | "db" | "log" | "random" | "signals">;
  readonly #steadyNow: () => number;
  #gathered: Unwritten[] = [];
  #writing = 0;
  /** Resolves when nothing is being written. */
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

  /** Resolves once it is written, with the time of the next try if there is one. */
  add(deliveryId: string, result: TryResult): Promise<number | undefined> {
    return new Promise((recorded) => {
      this.#gathered.push({ deliveryId, result, recorded });
      if (this.#isStuck) return;
      if (this.#gathered.length >= GATHER_MOST) void this.flush();
      else this.#timer ??= this.#ctx.clock.after(GATHER_MS, () => void this.flush());
    });
  }

  /** Writes what was gathered. Resolves when all is written, or kept for another attempt. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const batch = this.#gathered;
    this.#gathered = [];
    this.#writing += batch.length;
    // Handed over in one turn, they are committed together; one that fails does so alone.
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
      this.#gatherOn();
      recorded(nextTryAt);
    } catch (error) {
      this.#writing -= 1;
      if (error instanceof Problem) this.#keep(unwritten, error);
      // Not tried again before the next start: what cannot be written would be sent for ever.
      else {
        this.#ctx.log.error(
          { err: error, delivery: deliveryId },
          "a delivery's result cannot be recorded",
        );
        // Nothing else is left of what could not be written before.
        if (this.#gathered.length === 0) this.#isStuck = false;
      }
    }
  }

  /** Sees to what came in while it was stuck, for which nobody waits yet. */
  #gatherOn(): void {
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

  /** Gives up what is not written: it stays as the database shows it. */
  stop(): void {
    this.#timer?.cancel();
    this.#gathered = [];
  }
}
