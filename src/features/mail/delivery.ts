import type { Reader } from "../../db/statements";
import type { MailClass } from "../../base/mail-address";
import { waitingMails } from "./waiting";
import { findRelayRecord, type RelayRecord } from "./relay-record";
import { countUnmatched } from "./reports/store";
import { findReportToken } from "./reports/token";

const CLASSES: readonly MailClass[] = [1, 2, 3];

/** Waiting mails of one class. */
export interface WaitingMails {
  class: MailClass;
  count: number;
  /** Time at which the oldest was queued (unix ms). */
  oldestAt: number | undefined;
}

/** State of sending and of what came back, for people. */
export interface Delivery {
  /** Undefined until the relay answered a mail since the start. */
  relay: RelayRecord | undefined;
  waiting: readonly WaitingMails[];
  /** Number of unmatched reports. */
  unmatched: number;
  /** Time at which the token for reports was made (unix ms); undefined without one. */
  tokenAt: number | undefined;
}

/** Reads the state of sending and of what came back. */
export function readDelivery(reader: Reader): Delivery {
  return {
    relay: findRelayRecord(reader),
    waiting: CLASSES.map((one) => ({ class: one, ...waitingMails(reader, one) })),
    unmatched: countUnmatched(reader, {})?.count ?? 0,
    tokenAt: findReportToken(reader)?.createdAt,
  };
}
