import type { AppContext } from "../../context";
import type { Timer } from "../../kernel/clock";
import { MINUTE_MS } from "../../kernel/time";
import { decideSignUps, type SignUpResult } from "./decide";
import { listWaitingRequests } from "./request-store";

/** Wait after a sign-up, so that the decision does not delay its answer, and several share a transaction. */
const WAIT_MS = 100;
/** Wait after a failed write. */
const RETRY_MS = 5_000;

type Services = Pick<AppContext, "clock" | "db" | "log" | "newId" | "random" | "signals">;

/** Counters of the sign-ups since the start. */
export interface SignUpFigures {
  decided(result: SignUpResult): number;
}

/** Decides about sign-ups a moment after they arrive, and about those that an earlier process left. */
export function startSignUps(ctx: Services): Timer & SignUpFigures {
  let timer: Timer | undefined;
  let isRunning = false;
  let isCancelled = false;
  let isFailing = false;
  const counts = new Map<SignUpResult, number>();

  /** Decides about the oldest sign-ups. */
  async function decideSome(): Promise<void> {
    const results = await ctx.db.write((tx) => decideSignUps(ctx, tx));
    for (const result of results) counts.set(result, (counts.get(result) ?? 0) + 1);
  }

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
      while (!isCancelled && listWaitingRequests(ctx.db, { limit: 1 }).length > 0) {
        await decideSome();
      }
      isFailing = false;
    } catch (error) {
      // Logged once per series of failures, which can last for hours.
      if (!isFailing && !isCancelled)
        ctx.log.error({ err: error }, "sign-ups wait for the database");
      isFailing = true;
    } finally {
      isRunning = false;
    }
    if (isFailing) schedule(RETRY_MS);
  }

  const forget = ctx.signals.signUpsRequested.on(() => schedule(WAIT_MS));
  schedule(WAIT_MS);
  // Should a signal ever be missed, no sign-up waits longer.
  const sweep = ctx.clock.every(MINUTE_MS, () => schedule(0));
  return {
    decided: (result) => counts.get(result) ?? 0,
    cancel() {
      isCancelled = true;
      forget();
      timer?.cancel();
      sweep.cancel();
    },
  };
}
