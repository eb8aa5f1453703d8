import type { Ctx } from "../../../context";
import type { LoadThrottle } from "../../outgoing/load-throttle";
import { fullRate, type RateState, rateWaitMs, refilledRate } from "../rules";
import type { MailSettings } from "../settings";
import { RelayState } from "./relay-state";

/** Everything that can delay the next mail: the relay, the limit of mails a minute, and the load of the server. */
export class StartGate {
  readonly relay: RelayState;
  readonly #ctx: Ctx;
  readonly #throttle: LoadThrottle;
  #perMinute = 0;
  #rate: RateState | undefined;
  #isThrottled = false;

  constructor(
    ctx: Ctx,
    throttle: LoadThrottle,
    relayChanged: ConstructorParameters<typeof RelayState>[1],
  ) {
    this.relay = new RelayState(ctx, relayChanged);
    this.#ctx = ctx;
    this.#throttle = throttle;
  }

  /** True if only the load of the server delays the next mail. */
  get isThrottled(): boolean {
    return this.#isThrottled;
  }

  /** Applies new settings. Failures of the old ones are forgotten. */
  apply(settings: MailSettings | undefined): void {
    this.relay.reset();
    const perMinute = settings?.ratePerMinute ?? 0;
    if (perMinute === this.#perMinute) return;
    this.#perMinute = perMinute;
    this.#rate = perMinute === 0 ? undefined : fullRate(perMinute, this.#ctx.clock.monotonic());
  }

  /** Returns the wait in ms until one mail may start. */
  waitMs(): number {
    const waitMs = Math.max(this.relay.waitMs(), this.#rateWaitMs());
    this.#isThrottled = waitMs === 0 && !this.#throttle.take();
    return this.#isThrottled ? this.#throttle.waitMs() : waitMs;
  }

  /** Counts a mail that begins. */
  begin(): void {
    if (this.#rate) this.#rate.tokens -= 1;
  }

  /** Takes back a mail that was not sent. */
  takeBack(): void {
    if (this.#rate) this.#rate.tokens += 1;
  }

  #rateWaitMs(): number {
    if (!this.#rate) return 0;
    this.#rate = refilledRate(this.#rate, this.#perMinute, this.#ctx.clock.monotonic());
    return rateWaitMs(this.#rate, this.#perMinute);
  }
}
