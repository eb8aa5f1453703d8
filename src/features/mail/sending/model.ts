import type { MailClass } from "../../../base/mail-address";
import type { LoadThrottle } from "../../outgoing/sending-loop";
import type { Templates } from "../templates";
import type { RelayFigures } from "./relays";

/** Sends mails while the server runs. */
export interface MailSender {
  /** Lets mails under way end for `drainMs`, breaks off the rest, and records results. */
  stop(drainMs: number): Promise<void>;
  stats(): SenderFigures;
  /** Resolves when nothing is under way or unrecorded, and no mail can begin until one falls due or the relay allows it. */
  whenIdle(): Promise<void>;
}

export interface SenderDependencies {
  templates: Templates;
  throttle: LoadThrottle;
}

/** Results of mails that are counted. `retry` is a refusal for now. */
export const MAIL_RESULTS = ["sent", "retry", "bounced", "failed", "cancelled", "expired"] as const;
type CountedResult = (typeof MAIL_RESULTS)[number];

/** Load and counters of the sender. */
export interface SenderFigures {
  /** Mails that are being sent. */
  underWay: number;
  relay: RelayFigures;
  /** Number of results since the start, by class and result. */
  results(mailClass: MailClass, result: CountedResult): number;
}

/** Counts results by class. */
export class ResultCounts {
  readonly #counts = new Map<string, number>();

  add(mailClass: MailClass, result: CountedResult): void {
    this.#counts.set(`${mailClass} ${result}`, this.of(mailClass, result) + 1);
  }

  of(mailClass: MailClass, result: CountedResult): number {
    return this.#counts.get(`${mailClass} ${result}`) ?? 0;
  }
}
