import type { Reader } from "../../db/statements";
import type { MailClass } from "../../base/mail-address";
import type { Clock } from "../../base/clock";
import { SECOND_MS } from "../../base/time";
import { countSuppressedAddresses } from "../mail/suppressions";
import { MAIL_RESULTS, type SenderFigures } from "../mail/sending/model";
import { waitingMails } from "../mail/waiting";
import { type MetricFamily, single } from "./metrics";

const CLASSES: readonly MailClass[] = [1, 2, 3];

/** Metrics of mails: the queue and suppressions, read from the database, and the sender's own counters. */
export function mailFamilies(
  reader: Reader,
  clock: Pick<Clock, "now">,
  figures: () => SenderFigures,
): MetricFamily[] {
  const readWaiting = () => CLASSES.map((one) => ({ one, ...waitingMails(reader, one) }));
  /** Counts of one scrape, which the family after the first one uses too. */
  let counted: ReturnType<typeof readWaiting> | undefined;
  return [
    {
      type: "gauge",
      name: "allclear_mail_waiting",
      help: "Pending mails, by class: 1 of accounts and sign-ups, 2 to the team, 3 of mailings.",
      labelNames: ["class"],
      *read() {
        counted = readWaiting();
        for (const { one, count } of counted) {
          yield { labels: { class: String(one) }, value: count };
        }
      },
    },
    {
      type: "gauge",
      name: "allclear_mail_oldest_age_seconds",
      help: "Age of the oldest pending mail, by class; 0 without one.",
      labelNames: ["class"],
      *read() {
        const waiting = counted ?? readWaiting();
        counted = undefined;
        for (const { one, oldestAt } of waiting) {
          const ageMs = oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt);
          yield { labels: { class: String(one) }, value: ageMs / SECOND_MS };
        }
      },
    },
    {
      type: "counter",
      name: "allclear_mail_results_total",
      help: "Results of mails, by class. retry: refused for now.",
      labelNames: ["class", "result"],
      *read() {
        const { results } = figures();
        for (const one of CLASSES) {
          for (const result of MAIL_RESULTS) {
            yield { labels: { class: String(one), result }, value: results(one, result) };
          }
        }
      },
    },
    single(
      "gauge",
      "allclear_mail_relay_available",
      "0 while the mail relay is unavailable and mails wait for it, otherwise 1.",
      () => Number(figures().relay.isAvailable),
    ),
    {
      type: "gauge",
      name: "allclear_mail_suppressions",
      help: "Addresses that get no mail of a kind, by reason.",
      labelNames: ["reason"],
      *read() {
        for (const { reason, count } of countSuppressedAddresses(reader)) {
          yield { labels: { reason }, value: count };
        }
      },
    },
  ];
}
