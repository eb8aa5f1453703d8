import type { Reader } from "../../db/statements";
import { countSubscribers } from "../subscribers/store";
import { SIGN_UP_RESULTS } from "../subscribers/decide";
import type { SignUpFigures } from "../subscribers/sign-up-worker";
import type { MetricFamily } from "./metrics";

const STATUSES = ["active", "unsubscribed"] as const;

/** Metrics of subscribers, read from the database, and of sign-ups, by the results of this server's decisions. */
export function subscriberFamilies(reader: Reader, figures: SignUpFigures): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_subscribers",
      help: "Subscribers by e-mail, by status.",
      labelNames: ["status"],
      *read() {
        const counts = countSubscribers(reader);
        for (const status of STATUSES) yield { labels: { status }, value: counts[status] };
      },
    },
    {
      type: "counter",
      name: "allclear_mail_signups_total",
      help: "Sign-ups for e-mail, by the mail that was queued. none: no mail, because of a limit or a suppression.",
      labelNames: ["result"],
      *read() {
        for (const result of SIGN_UP_RESULTS) {
          yield { labels: { result }, value: figures.decided(result) };
        }
      },
    },
  ];
}
