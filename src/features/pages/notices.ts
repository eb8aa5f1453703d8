import type { Timer } from "../../base/clock";
import { SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import { noticeEndOf } from "./look";
import { touchPage } from "./pages";
import { findPage, listAllPages, type PageRow } from "./store";

/** Interval of the clock. */
const TICK_MS = SECOND_MS;

/**
 * Starts the clock that marks a page as changed within a second after its notice has ended, so that mirrors are written and
 * CDNs purged. Answers of this server leave the notice out from its end on. The start reads all pages, and a tick those that
 * changed. Notices that ended before the start need no mark: mirrors and CDNs begin with all pages. A failed write is
 * repeated at the next tick.
 */
export function startNoticeClock(ctx: Ctx): Timer {
  /** Time until which ends are marked, in unix ms. */
  let markedUntil = ctx.clock.now();
  /** Ends that are not marked, in unix ms by the ids of pages. */
  const ends = new Map<string, number>();
  /** Ids of pages that changed since they were read. */
  const changed = new Set<string>();
  let isRunning = false;
  let isFailing = false;
  for (const page of listAllPages(ctx.db, {})) note(page.id, page);
  const unsubscribe = ctx.signals.pageChanged.on((id) => {
    changed.add(id);
  });

  function note(id: string, page: PageRow | undefined): void {
    const end = page && noticeEndOf(page);
    if (end === undefined || end <= markedUntil) ends.delete(id);
    else ends.set(id, end);
  }

  async function tick(): Promise<void> {
    if (isRunning || !ctx.isPrimary()) return;
    isRunning = true;
    try {
      const now = ctx.clock.now();
      for (const id of changed) {
        note(id, findPage(ctx.db, { id }));
        changed.delete(id);
      }
      const ended = [...ends].flatMap(([id, end]) => (end <= now ? [id] : []));
      if (ended.length > 0) {
        await ctx.db.write((tx) => {
          for (const id of ended) if (findPage(tx, { id })) touchPage(ctx, tx, id);
        });
      }
      for (const id of ended) ends.delete(id);
      markedUntil = now;
      isFailing = false;
    } catch (error) {
      // Logged once per series of failures, which can last for hours.
      if (!isFailing) {
        ctx.log.warn({ err: error }, "the end of a notice could not be marked; trying again");
      }
      isFailing = true;
    } finally {
      isRunning = false;
    }
  }

  const timer = ctx.clock.every(TICK_MS, () => void tick());
  return {
    cancel() {
      timer.cancel();
      unsubscribe();
    },
  };
}
