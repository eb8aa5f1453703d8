import type { Timer } from "../../base/clock";
import { Problem } from "../../base/errors";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";

/** Time for which results are gathered to share a commit. */
const GATHER_MS = 50;
/** Number of results that are not gathered any longer. */
export const RESULTS_PER_COMMIT = 64;
const AGAIN_AFTER_MS = 1_000;

interface RecorderOptions<Result, Recorded> {
  /** Writes one result with its consequences. */
  write(tx: Tx, result: Result): Recorded;
  /** Writes several, which takes less time than one after the other. */
  writeAll?(tx: Tx, results: readonly Result[]): Recorded[];
  /** Facts that name a result in the log. */
  describe(result: Result): Record<string, unknown>;
  /** Log line: results cannot be stored for now. */
  waiting: string;
  /** Log line: one result can never be stored. */
  lost: string;
}

interface Unwritten<Result, Recorded> {
  result: Result;
  /** Never called if the result cannot be written. */
  recorded: (value: Recorded) => void;
  lost: (() => void) | undefined;
}

/**
 * Writes results in groups. Results that the database refuses, for example with a full disk, are
 * kept and written later. Meanwhile `isStuck` is true and nothing should be sent, since its result
 * could not be written.
 */
export class ResultRecorder<Result, Recorded> {
  readonly #ctx: Ctx;
  readonly #options: RecorderOptions<Result, Recorded>;
  #gathered: Unwritten<Result, Recorded>[] = [];
  #writing = 0;
  /** Resolves when no write is in progress. */
  #written = Promise.resolve();
  #timer: Timer | undefined;
  #isStuck = false;

  constructor(ctx: Ctx, options: RecorderOptions<Result, Recorded>) {
    this.#ctx = ctx;
    this.#options = options;
  }

  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Number of results that are not stored yet. */
  get unwritten(): number {
    return this.#gathered.length + this.#writing;
  }

  /** Resolves when the result is written, with what writing it returned. `lost` is called instead if it never can be. */
  add(result: Result, lost?: () => void): Promise<Recorded> {
    return new Promise((recorded) => {
      this.#gathered.push({ result, recorded, lost });
      if (this.#isStuck) return;
      if (this.#gathered.length >= RESULTS_PER_COMMIT) void this.flush();
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
    const written = [this.#written, this.#writeAll(batch)];
    this.#written = Promise.all(written).then(() => undefined);
    return this.#written;
  }

  async #writeAll(batch: readonly Unwritten<Result, Recorded>[]): Promise<void> {
    const { writeAll } = this.#options;
    if (writeAll && batch.length > 1) {
      const results = batch.map(({ result }) => result);
      // If one of them cannot be written, each is written alone.
      const values = await this.#ctx.db.write((tx) => writeAll(tx, results)).catch(() => undefined);
      if (values) return this.#end(batch, values);
    }
    // Writes of one turn share a commit. A failed write does not undo the others.
    await Promise.all(batch.map((unwritten) => this.#write(unwritten)));
  }

  #end(batch: readonly Unwritten<Result, Recorded>[], values: readonly Recorded[]): void {
    this.#writing -= batch.length;
    this.#isStuck = false;
    this.#writeGatheredSoon();
    for (const [index, { recorded }] of batch.entries()) recorded(values[index] as Recorded);
  }

  async #write(unwritten: Unwritten<Result, Recorded>): Promise<void> {
    const { result } = unwritten;
    try {
      const value = await this.#ctx.db.write((tx) => this.#options.write(tx, result));
      this.#end([unwritten], [value]);
    } catch (error) {
      this.#writing -= 1;
      if (error instanceof Problem) this.#keep(unwritten, error);
      // Not sent again before the next start, since it would be sent without end.
      else {
        const { lost, describe } = this.#options;
        this.#ctx.log.error({ err: error, ...describe(result) }, lost);
        unwritten.lost?.();
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

  #keep(unwritten: Unwritten<Result, Recorded>, error: unknown): void {
    this.#gathered.push(unwritten);
    if (!this.#isStuck) this.#ctx.log.error({ err: error }, this.#options.waiting);
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

/** Returns a random number from 0 to 1, by which the wait for the next attempt is spread. */
export function drawChance({ random }: Ctx): number {
  return Buffer.from(random(CHANCE_BYTES)).readUInt32BE() / 2 ** 32;
}
