import type { AppContext } from "../../../context";
import type { RelayRecord } from "../relay-record";
import { formatReply, type Reply, withoutAddresses } from "../smtp/reply";
import { relayWaitMs } from "../rules";

/** Availability of the relay, for people. */
export interface RelayFigures {
  isAvailable: boolean;
  /** Time (unix ms) since which it is unavailable. */
  since: number | null;
  /** Last reply while it is unavailable. */
  reply: Reply | null;
}

/** Failures of the relay since it was last available. */
interface Failures {
  since: number;
  reply: Reply;
  count: number;
  /** Times of the last failure and of the next try (monotonic ms). */
  failedAt: number;
  retryAt: number;
}

/** Availability of the relay, and the wait until one mail tries it again. */
export class RelayState {
  readonly #ctx: Pick<AppContext, "clock" | "log">;
  readonly #changed: (record: RelayRecord | undefined) => void;
  #failures: Failures | undefined;
  /** False until the relay answered a mail. */
  #isKnown = false;

  /** `changed` is called with the new state for people; undefined if it is not known any more. */
  constructor(
    ctx: Pick<AppContext, "clock" | "log">,
    changed: (record: RelayRecord | undefined) => void,
  ) {
    this.#ctx = ctx;
    this.#changed = changed;
  }

  get figures(): RelayFigures {
    const { since = null, reply = null } = this.#failures ?? {};
    return { isAvailable: this.isAvailable, since, reply };
  }

  get isAvailable(): boolean {
    return this.#failures === undefined;
  }

  /** Returns the wait in ms until one mail may try the relay again; 0 if it is available. */
  waitMs(): number {
    return this.#failures ? Math.max(0, this.#failures.retryAt - this.#ctx.clock.monotonic()) : 0;
  }

  /** Records a failure. Mails that began together share one wait; the next one is twice as long. */
  fail(reply: Reply): void {
    const { clock, log } = this.#ctx;
    const now = clock.monotonic();
    const earlier = this.#failures;
    if (!earlier) {
      log.warn({ ...reply, text: withoutAddresses(reply.text) }, "the mail relay is unavailable");
    }
    const { since = clock.now(), count = 0, retryAt = now } = earlier ?? {};
    if (now < retryAt) {
      this.#failures = { since, count, failedAt: now, retryAt, reply };
      return;
    }
    const waitMs = relayWaitMs(count);
    this.#failures = { since, count: count + 1, failedAt: now, retryAt: now + waitMs, reply };
    const words = withoutAddresses(formatReply(reply));
    this.#isKnown = true;
    this.#changed({ isAvailable: false, since, reply: words, nextTryAt: clock.now() + waitMs });
  }

  /** Records an answer to a mail that began at `begunAt` (monotonic ms): after a failure, or it proves nothing. */
  succeed(begunAt: number): void {
    if (!this.#failures && this.#isKnown) return;
    if (this.#failures && begunAt <= this.#failures.failedAt) return;
    if (this.#failures) this.#ctx.log.info({}, "the mail relay is available again");
    this.#failures = undefined;
    this.#isKnown = true;
    const since = this.#ctx.clock.now();
    this.#changed({ isAvailable: true, since, reply: null, nextTryAt: null });
  }

  /** Forgets failures, such as after a change of the settings. */
  reset(): void {
    this.#failures = undefined;
    this.#isKnown = false;
    // Another process or an earlier start may have stored one.
    this.#changed(undefined);
  }
}
