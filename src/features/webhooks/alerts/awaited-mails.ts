import type { Ctx } from "../../../context";
import { findMail } from "../../mail/queue-store";
import { findRelayRecord } from "../../mail/relay-record";
import { MINUTE_MS } from "../../../base/time";
import type { Begun } from "../deliver/delivery-queue";
import { findForTry } from "../delivery-store";
import { alertMailId } from "./mail-id";

/** Time for which a delivery keeps its place while its mail is not sent, such as one at which the relay breaks off. */
const PLACE_KEPT_MS = MINUTE_MS;

/** Number of deliveries that one check reads: some milliseconds. */
const CHECKED = 256;

interface Waiting {
  begun: Begun;
  /** Time (monotonic ms) since which it waits. */
  since: number;
  /** True once later deliveries may start before it. */
  hasGivenUpPlace: boolean;
}

/** Deliveries whose mails are queued or being sent. */
export class AwaitedMails {
  readonly #ctx: Ctx;
  readonly #begun = new Map<string, Waiting>();
  readonly #release: (begun: Begun) => void;
  readonly stop: () => void;

  /** `release` is called for each delivery whose mail has ended. */
  constructor(ctx: Ctx, release: (begun: Begun) => void) {
    this.#ctx = ctx;
    this.#release = release;
    this.stop = ctx.signals.alertTried.on((id) => this.#end(id));
  }

  add(begun: Begun): void {
    const since = this.#ctx.clock.monotonic();
    this.#begun.set(begun.due.id, { begun, since, hasGivenUpPlace: false });
  }

  /**
   * Releases the deliveries whose mails ended without a signal, such as by their time, and lets others pass those that
   * have waited for long: some at each call.
   */
  check(): void {
    const isAvailable = findRelayRecord(this.#ctx.db)?.isAvailable !== false;
    for (const [id, waiting] of [...this.#begun].slice(0, CHECKED)) {
      if (this.#isStuck(waiting, isAvailable)) {
        waiting.hasGivenUpPlace = true;
        waiting.begun.queue.giveUpPlace(waiting.begun.due);
      }
      const row = findForTry(this.#ctx.db, { id });
      const mail = row && findMail(this.#ctx.db, { id: alertMailId(row.delivery) });
      if (mail?.status !== "pending" || row?.delivery.status !== "pending") this.#end(id);
      else {
        // Moved to the end, so that the next call looks at others.
        this.#begun.delete(id);
        this.#begun.set(id, waiting);
      }
    }
  }

  /**
   * True for a mail that may wait because of itself. While the relay seems to be unavailable, one of each endpoint is taken
   * for such a mail, since the relay may only break off at it.
   */
  #isStuck({ begun: { queue }, since }: Waiting, isAvailable: boolean): boolean {
    if (this.#ctx.clock.monotonic() - since < PLACE_KEPT_MS) return false;
    const isOther = (other: Waiting) => other.hasGivenUpPlace && other.begun.queue === queue;
    return isAvailable || !this.#begun.values().some(isOther);
  }

  #end(id: string): void {
    const waiting = this.#begun.get(id);
    if (!waiting) return;
    this.#begun.delete(id);
    this.#release(waiting.begun);
  }
}
