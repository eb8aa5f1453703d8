import type { Tx } from "../../src/db";
import type { TestApp } from "./app";

/** Something that happened in a furnished installation. */
export interface Entry {
  /** In ms before the moment at which it is looked at. */
  ago: number;
  act(tx: Tx): void;
}

/** Lets all of it happen, each at its own time. */
export async function live({ ctx, clock }: TestApp, now: number, diary: readonly Entry[]) {
  for (const { ago, act } of diary.toSorted((a, b) => b.ago - a.ago)) {
    clock.setWallClock(now - ago);
    // One after the other: they are what happened.
    // oxlint-disable-next-line no-await-in-loop
    await ctx.db.write(act);
  }
}
