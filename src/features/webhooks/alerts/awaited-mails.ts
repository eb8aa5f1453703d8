import type { AppContext } from "../../../context";
import { findMail } from "../../mail";
import type { Begun } from "../deliver/delivery-queue";
import { findForTry } from "../delivery-store";
import { alertMailId } from "./mail-id";

/** Number of deliveries that one check reads: some milliseconds. */
const CHECKED = 256;

/** Deliveries whose mails are queued or being sent. */
export class AwaitedMails {
  readonly #ctx: Pick<AppContext, "db">;
  readonly #begun = new Map<string, Begun>();
  readonly #release: (begun: Begun) => void;
  readonly stop: () => void;

  /** `release` is called for each delivery whose mail has ended. */
  constructor(ctx: Pick<AppContext, "db" | "signals">, release: (begun: Begun) => void) {
    this.#ctx = ctx;
    this.#release = release;
    this.stop = ctx.signals.alertTried.on((id) => this.#end(id));
  }

  add(begun: Begun): void {
    this.#begun.set(begun.due.id, begun);
  }

  /** Releases the deliveries whose mails ended without a signal, such as by their time: some at each call. */
  check(): void {
    for (const [id, begun] of [...this.#begun].slice(0, CHECKED)) {
      const row = findForTry(this.#ctx.db, { id });
      const mail = row && findMail(this.#ctx.db, { id: alertMailId(row.delivery) });
      if (mail?.status !== "pending" || row?.delivery.status !== "pending") this.#end(id);
      else {
        // Moved to the end, so that the next call looks at others.
        this.#begun.delete(id);
        this.#begun.set(id, begun);
      }
    }
  }

  #end(id: string): void {
    const begun = this.#begun.get(id);
    if (!begun) return;
    this.#begun.delete(id);
    this.#release(begun);
  }
}
