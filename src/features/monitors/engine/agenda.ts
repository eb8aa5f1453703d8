import type { AppContext } from "../../../context";
import type { Clock } from "../../../kernel/clock";
import type { Lanes } from "./lanes";
import { createSchedule, patienceWith, type Schedule } from "./schedule";
import type { Waker } from "./waker";
import type { Watched } from "./watched";

/** When each monitor is checked next, by its type and by what was found. Wakes whoever begins what is due. */
export class Agenda {
  readonly #clock: Clock;
  readonly #schedule: Schedule;
  readonly #lanes: Lanes;
  readonly #waker: Waker;

  constructor(ctx: Pick<AppContext, "clock" | "random">, lanes: Lanes, waker: Waker) {
    this.#clock = ctx.clock;
    this.#schedule = createSchedule(ctx.clock, () => randomFraction(ctx));
    this.#lanes = lanes;
    this.#waker = waker;
  }

  /** After a start, and where what was known says nothing any more. */
  first(watched: Watched): void {
    if (watched.type === "push") this.after(watched, patienceWith(watched, this.#clock.now()));
    else this.#at(watched, this.#schedule.first(watched.id, watched.intervalMs));
  }

  /** After a result; one that may be an outage is looked at again sooner. */
  next(watched: Watched, isUnsure: boolean): void {
    // A job is not asked again sooner: each failure is a time at which it should have called.
    if (watched.type === "push") this.after(watched, watched.intervalMs);
    else if (isUnsure) this.after(watched, watched.retryMs);
    else this.#at(watched, this.#schedule.next(watched.id, watched.intervalMs));
  }

  after(watched: Watched, delayMs: number): void {
    this.#at(watched, this.#clock.monotonic() + delayMs);
  }

  #at(watched: Watched, dueAt: number): void {
    // Nobody would begin it; what is under way is scheduled when it ends.
    if (this.#waker.isOff || watched.isUnderWay) return;
    this.#lanes.schedule(watched, dueAt);
    this.#waker.at(dueAt);
  }
}

function randomFraction({ random }: Pick<AppContext, "random">): number {
  return new DataView(random(4).slice().buffer).getUint32(0) / 2 ** 32;
}
