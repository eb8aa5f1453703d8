import type { AppContext } from "../../../context";
import type { Clock } from "../../../kernel/clock";
import type { CheckQueue } from "./check-queue";
import { createSchedule, heartbeatDeadline, type Schedule } from "./schedule";
import type { WakeTimer } from "./wake-timer";
import type { ScheduledMonitor } from "./scheduled-monitor";

/**
 * Schedules the next check of each monitor by its type and its last result, and sets the wake-up
 * timer.
 */
export class CheckScheduler {
  readonly #clock: Clock;
  readonly #schedule: Schedule;
  readonly #queue: CheckQueue;
  readonly #wakeTimer: WakeTimer;

  constructor(ctx: Pick<AppContext, "clock" | "random">, queue: CheckQueue, wakeTimer: WakeTimer) {
    this.#clock = ctx.clock;
    this.#schedule = createSchedule(ctx.clock, () => randomFraction(ctx));
    this.#queue = queue;
    this.#wakeTimer = wakeTimer;
  }

  /** After a start, and where what was known says nothing any more. */
  first(scheduled: ScheduledMonitor): void {
    if (scheduled.type === "push")
      this.after(scheduled, heartbeatDeadline(scheduled, this.#clock.now()));
    else this.#at(scheduled, this.#schedule.first(scheduled.id, scheduled.intervalMs));
  }

  /** After a result; one that may be an outage is looked at again sooner. */
  next(scheduled: ScheduledMonitor, needsRecheck: boolean): void {
    // A job is not asked again sooner: each failure is a time at which it should have called.
    if (scheduled.type === "push") this.after(scheduled, scheduled.intervalMs);
    else if (needsRecheck) this.after(scheduled, scheduled.retryMs);
    else this.#at(scheduled, this.#schedule.next(scheduled.id, scheduled.intervalMs));
  }

  after(scheduled: ScheduledMonitor, delayMs: number): void {
    this.#at(scheduled, this.#clock.monotonic() + delayMs);
  }

  #at(scheduled: ScheduledMonitor, dueAt: number): void {
    // Nobody would begin it; what is under way is scheduled when it ends.
    if (this.#wakeTimer.isOff || scheduled.isUnderWay) return;
    this.#queue.schedule(scheduled, dueAt);
    this.#wakeTimer.at(dueAt);
  }
}

function randomFraction({ random }: Pick<AppContext, "random">): number {
  return new DataView(random(4).slice().buffer).getUint32(0) / 2 ** 32;
}
