import type { Reader } from "../../db/statements";
import type { Clock } from "../../base/clock";
import { SECOND_MS } from "../../base/time";
import { type DelivererFigures, TRY_OUTCOMES } from "../webhooks/deliver/figures";
import { deliveryHealth } from "../webhooks/health";
import { listAllWebhooks } from "../webhooks/store";
import { type MetricFamily, single } from "./metrics";

/** Metrics of pending deliveries, read from the database. */
export function webhookFamilies(reader: Reader, clock: Pick<Clock, "now">): MetricFamily[] {
  // Read once for both families, since counting a long queue takes time.
  const byWebhook = onceATurn(() => {
    const { backlogs } = deliveryHealth(reader, clock.now());
    return new Map(backlogs.map((backlog) => [backlog.webhookId, backlog]));
  });
  return [
    {
      type: "gauge",
      name: "allclear_webhook_deliveries_waiting",
      help: "Pending deliveries, by webhook id.",
      labelNames: ["webhook"],
      *read() {
        const backlogs = byWebhook();
        for (const webhook of idsOf(reader, backlogs)) {
          yield { labels: { webhook }, value: backlogs.get(webhook)?.count ?? 0 };
        }
      },
    },
    {
      type: "gauge",
      name: "allclear_webhook_oldest_delivery_age_seconds",
      help: "Age of the oldest pending delivery, by webhook id; 0 without one.",
      labelNames: ["webhook"],
      *read() {
        const backlogs = byWebhook();
        for (const webhook of idsOf(reader, backlogs)) {
          const { oldestAt = clock.now() } = backlogs.get(webhook) ?? {};
          const ageMs = Math.max(0, clock.now() - oldestAt);
          yield { labels: { webhook }, value: ageMs / SECOND_MS };
        }
      },
    },
  ];
}

/** Metrics of the deliverer's own counters. */
export function deliveryFamilies(reader: Reader, figures: () => DelivererFigures): MetricFamily[] {
  return [
    {
      type: "counter",
      name: "allclear_webhook_tries_total",
      help: "Finished attempts, by webhook id and outcome. Refused ones are repeated after a pause.",
      labelNames: ["webhook", "outcome"],
      *read() {
        const { tries } = figures();
        for (const webhook of idsOf(reader, tries)) {
          for (const outcome of TRY_OUTCOMES) {
            yield { labels: { webhook, outcome }, value: tries.get(webhook)?.[outcome] ?? 0 };
          }
        }
      },
    },
    single(
      "gauge",
      "allclear_webhook_tries_running",
      "Running attempts.",
      () => figures().underWay,
    ),
  ];
}

/**
 * Returns a function that reads at most once per turn of the event loop, in which all families are
 * read.
 */
function onceATurn<T>(read: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => {
    if (!cached) {
      cached = { value: read() };
      queueMicrotask(() => (cached = undefined));
    }
    return cached.value;
  };
}

/** Returns the ids of all endpoints and of those with counts. */
function idsOf(reader: Reader, counts: ReadonlyMap<string, unknown>): Set<string> {
  return new Set([...listAllWebhooks(reader, {}).map(({ id }) => id), ...counts.keys()]);
}
