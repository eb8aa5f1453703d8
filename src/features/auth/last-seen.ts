import { LRUCache } from "lru-cache";
import type { AppContext } from "../../context";
import { lazy } from "../../kernel/lazy";
import { isTouchDue } from "./rules";
import { touchSessionRow } from "./store";

const REMEMBERED = 10_000;

/** What of a session its last use is written by. */
interface Used {
  id: number;
  lastSeenAt: number;
}

/**
 * When each session was last used, written in the background: at most once a minute a session,
 * however many requests come at once, and whether the database takes it or not.
 */
export function createLastSeen(ctx: Pick<AppContext, "clock" | "db" | "log">) {
  /** When a write was last begun for a session, by its id: one that is under way is not yet read back. */
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
      const known = Math.max(session.lastSeenAt, begun().get(session.id) ?? 0);
      if (!isTouchDue(known, now)) return;
      begun().set(session.id, now);
      void write(session.id, now, ip);
    },
  };
}
