import { setImmediate } from "node:timers/promises";
import type { Ctx } from "../../context";
import type { Timer } from "../../base/clock";
import { DAY_MS, SECOND_MS } from "../../base/time";
import { mailReadiness } from "../mail/settings";
import { wakeSender } from "../mail/queue";
import { advanceMailings } from "./expand";
import {
  endFinishedMailings,
  findNextBegin,
  findNextHeldEnd,
  findUnfinished,
  stopMailingsOfHiddenPages,
} from "./store";

/** Longest time between two looks at the database, in which mails may have been sent or mailings stopped. */
const TICK_MS = 5 * SECOND_MS;

interface RunningMailings {
  stop(): Promise<void>;
  /** Resolves when no mailing is due. */
  whenIdle(): Promise<void>;
}

/**
 * Starts writing the mails of due mailings, one transaction for up to 500 subscribers. Continues at the cursor
 * after a restart. Failed writes are repeated.
 */
export function startMailings(ctx: Ctx): RunningMailings {
  let running: Promise<void> | undefined;
  let isWoken = false;
  let isStopped = false;
  let isFailing = false;
  let timer: Timer | undefined;

  async function advance(): Promise<void> {
    if (!hasUnfinished()) return;
    let hasMore = true;
    while (hasMore && !isStopped) {
      const domain = senderDomain(ctx);
      hasMore = await ctx.db.write((tx) => advanceMailings(ctx, tx, domain));
      await setImmediate();
    }
    await ctx.db.write((tx) => {
      // The sender cancels the mails of stopped mailings.
      if (stopMailingsOfHiddenPages(tx, {}) > 0) wakeSender(ctx, tx);
      endFinishedMailings(tx, { now: ctx.clock.now() });
    });
  }

  /** Idle servers write nothing. */
  const hasUnfinished = () => findUnfinished(ctx.db, { now: ctx.clock.now() }) !== undefined;

  async function run(): Promise<void> {
    let delayMs: number | undefined;
    while (isWoken && !isStopped) {
      isWoken = false;
      try {
        await advance();
        delayMs = untilNextLook();
        isFailing = false;
      } catch (error) {
        // Logged once per series of failures, which can last for hours.
        if (!isFailing) ctx.log.error({ err: error }, "mailings wait for the database");
        isFailing = true;
        delayMs = TICK_MS;
      }
    }
    running = undefined;
    timer?.cancel();
    if (!isStopped && delayMs !== undefined) timer = ctx.clock.after(delayMs, wake);
  }

  function wake(): void {
    isWoken = true;
    if (!isStopped) running ??= run();
  }

  /** Returns the time until the next look at the database in ms; undefined if nothing waits. */
  function untilNextLook(): number | undefined {
    const now = ctx.clock.now();
    if (!hasUnfinished()) {
      const end = findNextHeldEnd(ctx.db, {})?.at ?? undefined;
      return end === undefined ? undefined : Math.min(DAY_MS, Math.max(0, end - now));
    }
    const next = findNextBegin(ctx.db, {})?.at ?? Number.POSITIVE_INFINITY;
    return Math.min(TICK_MS, Math.max(0, next - now));
  }

  const listeners = [
    ctx.signals.mailingsRecorded.on(wake),
    // The page may be private now, and public again before the next look.
    ctx.signals.addressesChanged.on(wake),
    ctx.signals.databaseChangedElsewhere.on(wake),
  ];
  wake();
  return {
    async stop() {
      isStopped = true;
      for (const off of listeners) off();
      timer?.cancel();
      await running;
    },
    async whenIdle() {
      while (running) await running;
    },
  };
}

/** Returns the domain of the sender's address; undefined while mail is not ready. */
function senderDomain(ctx: Ctx): string | undefined {
  const readiness = mailReadiness(ctx);
  return readiness.ready ? readiness.settings.from.address.split("@").at(-1) : undefined;
}
