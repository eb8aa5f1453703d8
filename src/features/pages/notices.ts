import type { Timer } from "../../base/clock";
import { SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import { noticeEndOf } from "./look";
import { touchPage } from "./pages";
import { listAllPages } from "./store";

/** Interval of the clock. */
const TICK_MS = SECOND_MS;

/**
 * Starts the clock that marks a page as changed within a second after its notice has ended, so that mirrors are written and
 * CDNs purged. Answers of this server leave the notice out from its end on. A tick reads pages only after one changed, or
 * when a notice ends. Notices that ended before the start need no mark: both begin with all pages. A failed write is
 * repeated at the next tick.
 */
export function startNoticeClock(ctx: Ctx): Timer {
  /** Time until which ends are marked, in unix ms. */
  let markedUntil = ctx.clock.now();
  /** Next end, in unix ms; undefined after a change of a page. */
  let nextEnd: number | undefined;
  let isRunning = false;
  const unsubscribe = ctx.signals.pageChanged.on(() => {
    nextEnd = undefined;
  });

  function listEnds(): { id: string; end: number }[] {
    return listAllPages(ctx.db, {}).flatMap((page) => {
      const end = noticeEndOf(page);
      return end === undefined || end <= markedUntil ? [] : [{ id: page.id, end }];
    });
  }

  async function tick(): Promise<void> {
    const now = ctx.clock.now();
    if (isRunning || !ctx.isPrimary() || (nextEnd !== undefined && now < nextEnd)) return;
    isRunning = true;
    try {
      const ends = listEnds();
      const ended = ends.filter(({ end }) => end <= now);
      // Before the write, during which another page can change.
      nextEnd = Math.min(...ends.flatMap(({ end }) => (end > now ? [end] : [])));
      if (ended.length > 0) {
        await ctx.db.write((tx) => {
          for (const { id } of ended) touchPage(ctx, tx, id);
        });
      }
      markedUntil = now;
    } catch (error) {
      nextEnd = undefined;
      ctx.log.warn({ err: error }, "the end of a notice could not be marked; trying again");
    } finally {
      isRunning = false;
    }
  }

  void tick();
  const timer = ctx.clock.every(TICK_MS, () => void tick());
  return {
    cancel() {
      timer.cancel();
      unsubscribe();
    },
  };
}
