import type { AppContext } from "../../../context";
import { findMail } from "../../mail";
import { MINUTE_MS } from "../../../kernel/time";
import type { Begun } from "../deliver/delivery-queue";
import { findForTry } from "../delivery-store";
import { alertMailId } from "./mail-id";

/** Time for which a delivery keeps its place while its mail is not sent, such as one at which the relay breaks off. */
const PLACE_KEPT_MS = 5 * MINUTE_MS;

/** Number of deliveries that one check reads: some milliseconds. */
const CHECKED = 256;

/** Deliveries whose mails are queued or being sent. */
export class AwaitedMails {
  readonly #ctx: Pick<AppContext, "clock" | "db">;
  /** With the times (monotonic ms) since which they wait. */
  readonly #begun = new Map<string, { begun: Begun; since: number }>();
  readonly #release: (begun: Begun) => void;
  readonly stop: () => void;

  /** `release` is called for each delivery whose mail has ended. */
  constructor(ctx: Pick<AppContext, "clock" | "db" | "signals">, release: (begun: Begun) => void) {
    this.#ctx = ctx;
    this.#release = release;
    this.stop = ctx.signals.alertTried.on((id) => this.#end(id));
  }

  add(begun: Begun): void {
    this.#begun.set(begun.due.id, { begun, since: this.#ctx.clock.monotonic() });
  }

  /**
   * Releases the deliveries whose mails ended without a signal, such as by their time, and lets others pass those that
   * have waited for long: some at each call.
   */
  check(): void {
    const now = this.#ctx.clock.monotonic();
    for (const [id, waiting] of [...this.#begun].slice(0, CHECKED)) {
      const { begun, since } = waiting;
      if (now - since >= PLACE_KEPT_MS) begun.queue.giveUpPlace(begun.due);
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

  #end(id: string): void {
    const waiting = this.#begun.get(id);
    if (!waiting) return;
    this.#begun.delete(id);
    this.#release(waiting.begun);
  }
}
