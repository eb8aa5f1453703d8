import type { Tx } from "../../src/db";
import type { TestApp } from "./app";

/** An action in the history of the demo data. */
export interface Entry {
  /** Time before the screenshots, in milliseconds. */
  ago: number;
  act(tx: Tx): void;
}

/** Performs all actions, each at its own time. */
export async function live({ ctx, clock }: TestApp, now: number, diary: readonly Entry[]) {
  for (const { ago, act } of diary.toSorted((a, b) => b.ago - a.ago)) {
    clock.setWallClock(now - ago);
    // In order, since later actions depend on earlier ones.
    // oxlint-disable-next-line no-await-in-loop
    await ctx.db.write(act);
  }
}
