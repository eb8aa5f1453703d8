import type { Ctx } from "../../../context";
import { ResultRecorder } from "../../outgoing/result-recorder";
import { FailureWindow } from "../rules";
import { ResultCounts } from "./model";
import { type EndedMail, type RecordedMail, recordMails } from "./record";

/** Records results of mails, counts them, and notices when too many mails of mailings fail. */
export class MailResults {
  readonly counts = new ResultCounts();
  readonly #ctx: Ctx;
  readonly #recorder: ResultRecorder<EndedMail, RecordedMail | undefined>;
  readonly #failures = new FailureWindow();

  constructor(
    ctx: Ctx,
    steadyNow: () => number,
    /** Called if more than 20 of the last 100 mails of mailings failed, with the time of the oldest result. */
    readonly tooManyFailures: (since: number) => void,
  ) {
    this.#ctx = ctx;
    this.#recorder = new ResultRecorder(ctx, {
      write: (tx, ended) => recordMails(ctx, tx, [ended], steadyNow())[0],
      writeAll: (tx, ended) => recordMails(ctx, tx, ended, steadyNow()),
      describe: ({ mailId }) => ({ mail: mailId }),
      waiting: "mails wait until their results can be recorded",
      lost: "a mail's result cannot be recorded",
    });
  }

  /** True while results cannot be recorded. Nothing should be sent then. */
  get isStuck(): boolean {
    return this.#recorder.isStuck;
  }

  /** Number of results that a crash would lose. */
  get unwritten(): number {
    return this.#recorder.unwritten;
  }

  /** Resolves when the result is recorded, with the time of the next try, if there is one. */
  async add(ended: EndedMail): Promise<number | null> {
    const recorded = await this.#recorder.add(ended);
    if (!recorded) return null;
    const { class: mailClass, status, nextTryAt } = recorded;
    if (status !== "superseded") {
      this.counts.add(mailClass, status === "pending" ? "retry" : status);
    }
    const isFailure = status === "failed" || status === "bounced";
    const { clock } = this.#ctx;
    if (mailClass === 3 && (isFailure || status === "sent")) {
      const hasTooMany = this.#failures.add(isFailure, clock.now());
      if (hasTooMany) this.tooManyFailures(this.#failures.since ?? clock.now());
    }
    return nextTryAt;
  }

  /** Forgets earlier failures, since an admin released all mailings. */
  forgetFailures(): void {
    this.#failures.clear();
  }

  flush(): Promise<void> {
    return this.#recorder.flush();
  }

  /** Discards results that are not written. */
  stop(): void {
    this.#recorder.stop();
  }
}
