import type { Ctx } from "../../context";
import type { Timer } from "../../base/clock";
import { startWaitingRows } from "../outgoing/waiting-rows";
import { decideSignUps, type SignUpResult } from "./decide";
import { listWaitingRequests } from "./request-store";

/** Counters of the sign-ups since the start. */
export interface SignUpFigures {
  decided(result: SignUpResult): number;
}

/** Decides about sign-ups a moment after they arrive, and about those that an earlier process left. */
export function startSignUps(ctx: Ctx): Timer & SignUpFigures {
  const counts = new Map<SignUpResult, number>();
  const worker = startWaitingRows(ctx, {
    signal: ctx.signals.signUpsRequested,
    hasWaiting: () => listWaitingRequests(ctx.db, { limit: 1 }).length > 0,
    work(tx) {
      const results = decideSignUps(ctx, tx);
      tx.afterCommit(() => {
        for (const result of results) counts.set(result, (counts.get(result) ?? 0) + 1);
      });
    },
    failed: "sign-ups wait for the database",
  });
  return { decided: (result) => counts.get(result) ?? 0, cancel: () => worker.cancel() };
}
