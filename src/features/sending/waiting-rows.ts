import type { Timer } from "../../base/clock";
import { repeatWithRests } from "../../base/in-slices";
import type { Signal } from "../../base/signal";
import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";

/** Wait after a signal, so that the work does not delay its answer, and several rows share a transaction. */
const WAIT_MS = 100;

/** Wait after a failed write. */
const RETRY_MS = 5_000;

/** Work on rows that requests leave behind. */
interface WaitingRows {
  /** Emitted when a row was written. */
  signal: Signal<void>;
  /** Returns true while rows wait. */
  hasWaiting(): boolean;
  /** Works on some of the oldest rows, after which they do not wait any more. */
  work(tx: Tx): void;
  /** Log line if rows cannot be worked on. */
  failed: string;
}

/** Works on rows a moment after they were written, and on those that an earlier process left. */
export function startWaitingRows(
  ctx: Ctx,
  { signal, hasWaiting, work, failed }: WaitingRows,
): Timer {
  let timer: Timer | undefined;
  let isRunning = false;
  let isCancelled = false;
  let isFailing = false;

  function schedule(waitMs: number): void {
    if (isCancelled || isRunning || timer) return;
    timer = ctx.clock.after(waitMs, () => {
      timer = undefined;
      void run();
    });
  }

  async function run(): Promise<void> {
    isRunning = true;
    try {
      // Read again each time, since one may have arrived during the last transaction.
      await repeatWithRests(ctx.clock, async () => {
        if (isCancelled || !hasWaiting()) return false;
        await ctx.db.write(work);
        return true;
      });
      isFailing = false;
    } catch (error) {
      // Logged once per series of failures, which can last for hours.
      if (!isFailing && !isCancelled) ctx.log.error({ err: error }, failed);
      isFailing = true;
    } finally {
      isRunning = false;
    }
    if (isFailing) schedule(RETRY_MS);
  }

  const forget = signal.on(() => schedule(WAIT_MS));
  schedule(WAIT_MS);
  // Should a signal ever be missed, no row waits longer.
  const sweep = ctx.clock.every(MINUTE_MS, () => schedule(0));
  return {
    cancel() {
      isCancelled = true;
      forget();
      timer?.cancel();
      sweep.cancel();
    },
  };
}
