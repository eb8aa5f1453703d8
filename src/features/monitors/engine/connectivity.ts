import type { ListenAddress } from "../../../base/config/parse";
import type { Clock } from "../../../base/clock";
import type { Stalls } from "./stalls";

/**
 * Time for which a result is reused, since an outage of the own network fails many checks at once.
 */
const HELD_MS = 5_000;
const TIMEOUT_MS = 3_000;

/** Connects to a target and returns true if that worked. Gives up when the signal aborts. */
type Reach = (target: ListenAddress, signal: AbortSignal) => Promise<boolean>;

/**
 * Decides if this server is online by reference targets, which are tried only after a failed check.
 * One response is enough. Without targets the server counts as online.
 */
export class Connectivity {
  readonly #clock: Clock;
  readonly #targets: readonly ListenAddress[];
  readonly #reach: Reach;
  readonly #stalls: Stalls;
  #askedAt = Number.NEGATIVE_INFINITY;
  #offlineAt = Number.NEGATIVE_INFINITY;
  #isOffline = false;
  #asking: Promise<void> | undefined;

  constructor(clock: Clock, targets: readonly ListenAddress[], reach: Reach, stalls: Stalls) {
    this.#clock = clock;
    this.#targets = targets;
    this.#reach = reach;
    this.#stalls = stalls;
  }

  /**
   * Returns true if the server is offline, or was found offline since a time of the monotonic
   * clock.
   */
  async wasLostSince(startedAt: number): Promise<boolean> {
    if (this.#offlineAt >= startedAt) return true;
    if (this.#clock.monotonic() - this.#askedAt >= HELD_MS) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined;
      });
    }
    await this.#asking;
    return this.#isOffline || this.#offlineAt >= startedAt;
  }

  async #ask(): Promise<void> {
    this.#stalls.begin();
    const startedAt = this.#clock.monotonic();
    // Targets that seem unreachable because this process stood still are asked once more.
    const isOnline =
      (await this.#reachesAny()) ||
      (this.#stalls.hasEndedSince(startedAt) && (await this.#reachesAny()));
    this.#isOffline = !isOnline;
    this.#askedAt = this.#clock.monotonic();
    if (this.#isOffline) this.#offlineAt = this.#askedAt;
  }

  async #reachesAny(): Promise<boolean> {
    const giveUp = new AbortController();
    const timer = this.#clock.after(TIMEOUT_MS, () => giveUp.abort());
    const attempts = this.#targets.map(async (target) => {
      if (!(await this.#reach(target, giveUp.signal))) throw new Error("unreachable");
    });
    const isOnline = await Promise.any(attempts).then(
      () => true,
      () => false,
    );
    timer.cancel();
    // One response is enough; the other attempts end.
    giveUp.abort();
    return isOnline;
  }
}
