import type { Clock, Timer } from "../../../base/clock";
import { outgoingShare } from "../../../base/descriptors";
import { MINUTE_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import {
  afterMissed,
  afterReport,
  type Job,
  missedDeadline,
  nextDeadline,
  startDeadlines,
} from "./job";
import type { ScheduledMonitor } from "./registry";
import type { Liveness, Stalls } from "./stalls";

/*
 * When checks begin: the due time of each monitor, one timer for the earliest of them, and the places of checks
 * that run. `createSchedule` spreads the due times, and `DueHeap` keeps them in order.
 */

/** Maximum number of concurrent checks. Others wait in the order of their due times. */
const UNDER_WAY_MAX = 256;
/** Greatest share of running checks that slow monitors may have. */
const SLOW_SHARE = 0.75;
const SLOW_MS = 1_000;

/** Maximum delay of a timer of JavaScript, about 25 days; longer ones run at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/**
 * Schedules the next check of each monitor by its type and its last result, wakes when one is due, and limits
 * those that run. A check has a place until it has a result; then its monitor may stay under way, to wait for
 * parents. Slow monitors have a heap of their own for fairness, not for speed: targets that hang do not delay
 * the checks of others.
 */
export class CheckScheduler {
  readonly #clock: Clock;
  readonly #liveness: Liveness;
  readonly #stalls: Stalls;
  readonly #wake: () => void;
  readonly #schedule: Schedule;
  readonly #quick = new DueHeap();
  readonly #slow = new DueHeap();
  readonly #maxUnderWay: number;
  #underWay = 0;
  #slowUnderWay = 0;
  #timer: Timer | undefined;
  /** Time of the timer; Infinity without one. */
  #wakesAt = Number.POSITIVE_INFINITY;
  #isOff = true;

  /** `wake` is called at the earliest time that was asked for. At most `concurrency` checks run at a time. */
  constructor(
    ctx: Ctx,
    liveness: Liveness,
    stalls: Stalls,
    wake: () => void,
    concurrency: number = UNDER_WAY_MAX,
  ) {
    this.#maxUnderWay = outgoingShare(concurrency);
    this.#clock = ctx.clock;
    this.#liveness = liveness;
    this.#stalls = stalls;
    this.#wake = wake;
    this.#schedule = createSchedule(ctx.clock, () => randomFraction(ctx));
  }

  /** Starts to schedule. What was asked for before is lost. */
  start(): void {
    this.#isOff = false;
  }

  stop(): void {
    this.#isOff = true;
    this.#timer?.cancel();
  }

  /** Wakes at a time of the monotonic clock, or earlier. */
  wakeAt(time: number): void {
    if (this.#isOff || this.#wakesAt <= time) return;
    this.#timer?.cancel();
    this.#wakesAt = time;
    const delayMs = Math.max(0, Math.ceil(time - this.#clock.monotonic()));
    this.#timer = this.#clock.after(Math.min(delayMs, TIMER_MAX_MS), () => {
      this.#wakesAt = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }

  /**
   * Schedules the first check after a start, a change, or a time in which the server was offline.
   */
  first(scheduled: ScheduledMonitor): void {
    const { job } = scheduled;
    if (!job) {
      // Alerts that are open are judged at once.
      if (scheduled.intervalMs === Infinity) this.after(scheduled, 0);
      else this.#at(scheduled, this.#schedule.first(scheduled));
      return;
    }
    startDeadlines(job, scheduled, this.#clock, (at) => this.#liveness.wasOfflineAt(at));
    this.resume(scheduled);
  }

  /** Schedules the check after a result of a check that began at `at` (unix ms); sooner if `needsRecheck`. */
  next(scheduled: ScheduledMonitor, needsRecheck: boolean, at: number): void {
    const { job } = scheduled;
    if (job) {
      // Jobs are not rechecked sooner: each failure is a call that was due.
      afterMissed(job, scheduled, this.#clock, at);
      this.resume(scheduled);
    } else if (needsRecheck) this.after(scheduled, scheduled.retryMs);
    else this.#at(scheduled, this.#schedule.next(scheduled));
  }

  /** Schedules a check. For a push monitor it is the time by which its job has to call. */
  after(scheduled: ScheduledMonitor, delayMs: number): void {
    const at = this.#clock.monotonic() + delayMs;
    if (scheduled.job) {
      scheduled.job.callBy = at;
      this.resume(scheduled);
    } else this.#at(scheduled, at);
  }

  /** Schedules a push monitor after a report of its job at `at` (unix ms). */
  reported(scheduled: ScheduledMonitor, job: Job, at: number): void {
    afterReport(job, scheduled, this.#clock, at);
    this.resume(scheduled);
  }

  /** Schedules a push monitor by the deadlines of its job. */
  resume(scheduled: ScheduledMonitor): void {
    if (scheduled.job) this.#at(scheduled, this.#settledFrom(scheduled.job, scheduled));
  }

  /** Makes a monitor due now, of which no check runs. */
  hasten(scheduled: ScheduledMonitor): void {
    if (scheduled.isRemoteOnly) return;
    const now = this.#clock.monotonic();
    if (scheduled.heapIndex < 0 || scheduled.dueAt > now) {
      this.#heapOf(scheduled).schedule(scheduled, now);
    }
  }

  /** Takes a monitor out, which was paused or deleted. */
  remove(scheduled: ScheduledMonitor): void {
    this.#heapOf(scheduled).remove(scheduled);
  }

  /** Returns the next monitor that is due at `now` (monotonic clock) and may start. */
  due(now: number): ScheduledMonitor | undefined {
    for (;;) {
      const next = this.#peek();
      if (!next || next.dueAt > now) return undefined;
      if (!this.isTooEarly(next)) return next;
      this.resume(next);
    }
  }

  /** Time at which the next check may start, on the monotonic clock; Infinity without one. */
  get nextDueAt(): number {
    return this.#peek()?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Returns true for a push monitor whose deadlines are ahead, since the clock was set back, or fell into a stall: a
   * call that waits to be read must have its turn first.
   */
  isTooEarly(scheduled: ScheduledMonitor): boolean {
    const { job } = scheduled;
    if (!job) return false;
    const isMissed = missedDeadline(job, scheduled, this.#clock) !== undefined;
    return !isMissed || this.#settledFrom(job, scheduled) > this.#clock.monotonic();
  }

  /** Number of checks that have a place. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Gives a place to a monitor whose check starts now, whether it was due or not. */
  begin(scheduled: ScheduledMonitor): void {
    this.remove(scheduled);
    scheduled.isUnderWay = true;
    this.#underWay += 1;
    if (scheduled.isSlow) this.#slowUnderWay += 1;
  }

  /** Frees the place of a check that has a result, so that others can start. `tookMs` is undefined if unknown. */
  free(scheduled: ScheduledMonitor, tookMs: number | undefined): void {
    this.#underWay -= 1;
    if (scheduled.isSlow) this.#slowUnderWay -= 1;
    if (tookMs !== undefined) scheduled.isSlow = tookMs >= SLOW_MS;
  }

  /** Ends a check, whose place is free. The monitor can be scheduled again. */
  end(scheduled: ScheduledMonitor): void {
    scheduled.isUnderWay = false;
  }

  #at(scheduled: ScheduledMonitor, dueAt: number): void {
    // Nothing is scheduled while the engine is stopped; a running check is scheduled when it ends.
    if (this.#isOff || scheduled.isUnderWay) return;
    // A job without a deadline is never late.
    if (dueAt === Infinity || scheduled.isRemoteOnly) {
      this.remove(scheduled);
      return;
    }
    this.#heapOf(scheduled).schedule(scheduled, dueAt);
    this.wakeAt(dueAt);
  }

  #settledFrom(job: Job, scheduled: ScheduledMonitor): number {
    return this.#stalls.settledFrom(nextDeadline(job, scheduled, this.#clock));
  }

  #heapOf({ isSlow }: ScheduledMonitor): DueHeap {
    return isSlow ? this.#slow : this.#quick;
  }

  /** Returns the monitor that is due first among those that may start. */
  #peek(): ScheduledMonitor | undefined {
    if (this.#underWay >= this.#maxUnderWay) return undefined;
    const quick = this.#quick.peek();
    const canBeSlow = this.#slowUnderWay < Math.ceil(this.#maxUnderWay * SLOW_SHARE);
    const slow = canBeSlow ? this.#slow.peek() : undefined;
    if (!quick || !slow) return quick ?? slow;
    return slow.dueAt < quick.dueAt ? slow : quick;
  }
}

function randomFraction({ random }: Ctx): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / UINT32;
}

/**
 * Maximum delay of a check after its slot, as a share of its interval, so that checks do not stay
 * in step.
 */
const JITTER = 0.01;
const UINT32 = 2 ** 32;

/** Settings of a monitor that decide about its slots. */
type Planned = Pick<ScheduledMonitor, "id" | "phase" | "intervalMs">;

/**
 * Due times of monitors, in ms of the monotonic clock. The hash of its id gives each a slot within
 * its interval, which spreads the load and stays the same after a restart. Its locations follow one another.
 */
interface Schedule {
  /** Returns the first due time after a start: within the interval, at most a minute away. */
  first(scheduled: Planned): number;
  /** Returns the next slot, delayed by at most a hundredth of the interval. */
  next(scheduled: Planned): number;
}

/** Creates the schedule. `random` returns a number from 0 to 1. */
function createSchedule(clock: Clock, random: () => number): Schedule {
  // Fixed at the start, so that setting the clock moves no slot.
  const offset = clock.now() - clock.monotonic();
  const partOf = ({ id, phase }: Planned) => (fraction(id) + phase) % 1;
  const slotAfter = (now: number, scheduled: Planned) => {
    const { intervalMs } = scheduled;
    const phase = Math.floor(partOf(scheduled) * intervalMs);
    const slot = Math.floor((now + offset - phase) / intervalMs) + 1;
    return slot * intervalMs + phase - offset;
  };
  return {
    first(scheduled) {
      const now = clock.monotonic();
      return scheduled.intervalMs <= MINUTE_MS
        ? slotAfter(now, scheduled)
        : now + Math.floor(partOf(scheduled) * MINUTE_MS);
    },
    next: (scheduled) =>
      slotAfter(clock.monotonic(), scheduled) +
      Math.floor(random() * JITTER * scheduled.intervalMs),
  };
}

/** Returns a number from 0 to 1, evenly distributed over ids. */
function fraction(id: string): number {
  return Bun.hash.murmur32v3(id) / UINT32;
}

/**
 * Binary heap of monitors, the one that is due first at the top. Monitors know their positions, so that each can be
 * moved.
 */
class DueHeap {
  readonly #items: ScheduledMonitor[] = [];

  peek(): ScheduledMonitor | undefined {
    return this.#items[0];
  }

  /** Adds an item, or moves it. */
  schedule(item: ScheduledMonitor, dueAt: number): void {
    item.dueAt = dueAt;
    if (item.heapIndex < 0) {
      item.heapIndex = this.#items.length;
      this.#items.push(item);
    }
    this.#sink(item, this.#rise(item));
  }

  /** Removes an item, if it is in the heap. */
  remove(item: ScheduledMonitor): void {
    const { heapIndex } = item;
    if (heapIndex < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#put(last, heapIndex);
    this.#sink(last, this.#rise(last));
  }

  /** Moves an item up while it is due before its parent. Returns its position. */
  #rise(item: ScheduledMonitor): number {
    let { heapIndex } = item;
    while (heapIndex > 0) {
      const above = (heapIndex - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || parent.dueAt <= item.dueAt) break;
      this.#put(parent, heapIndex);
      heapIndex = above;
    }
    this.#put(item, heapIndex);
    return heapIndex;
  }

  /** Moves an item down while a child is due before it. */
  #sink(item: ScheduledMonitor, from: number): void {
    let heapIndex = from;
    for (;;) {
      const left = 2 * heapIndex + 1;
      const first = this.#earlier(left, left + 1);
      const child = this.#items[first];
      if (child === undefined || child.dueAt >= item.dueAt) break;
      this.#put(child, heapIndex);
      heapIndex = first;
    }
    this.#put(item, heapIndex);
  }

  #earlier(left: number, right: number): number {
    const a = this.#items[left];
    const b = this.#items[right];
    return a !== undefined && b !== undefined && b.dueAt < a.dueAt ? right : left;
  }

  #put(item: ScheduledMonitor, heapIndex: number): void {
    this.#items[heapIndex] = item;
    item.heapIndex = heapIndex;
  }
}
