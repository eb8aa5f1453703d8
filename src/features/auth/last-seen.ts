import { LRUCache } from "lru-cache";
import type { Ctx } from "../../context";
import { lazy } from "../../base/lazy";
import { isTouchDue } from "./rules";
import { touchSessionRow } from "./store";

const REMEMBERED = 10_000;

/** Session fields needed to record its last use. */
interface Used {
  id: number;
  lastSeenAt: number;
}

/**
 * Records the last use of each session in the background, at most once a minute per session, also
 * while writes fail.
 */
export function createLastSeen(ctx: Ctx) {
  /**
   * Start of the last write for each session, by session id. A write in progress cannot be read
   * back yet.
   */
  const begun = lazy(() => new LRUCache<number, number>({ max: REMEMBERED }));

  async function write(id: number, at: number, ip: string): Promise<void> {
    try {
      await ctx.db.write((tx) => touchSessionRow(tx, { id, at, ip }));
    } catch (error) {
      ctx.log.warn({ err: error }, "the last use of a session could not be written");
    }
  }

  return {
    /** `now` in unix ms. Never throws. */
    touch(session: Used, now: number, ip: string): void {
      const usedAt = Math.max(session.lastSeenAt, begun().get(session.id) ?? 0);
      if (!isTouchDue(usedAt, now)) return;
      begun().set(session.id, now);
      void write(session.id, now, ip);
    },
  };
}
