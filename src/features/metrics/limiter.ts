import type { BucketFigures, Limiter } from "../limits";
import type { MetricFamily } from "./family";

/** Metrics of limited requests, by policy. */
export function limiterFamilies(limiter: Limiter): MetricFamily[] {
  const byPolicy = (
    type: MetricFamily["type"],
    name: string,
    help: string,
    of: (figures: BucketFigures) => number,
  ): MetricFamily => ({
    type,
    name,
    help,
    labelNames: ["policy"],
    read: () =>
      Object.entries(limiter.stats()).map(([policy, figures]) => ({
        labels: { policy },
        value: of(figures),
      })),
  });
  return [
    byPolicy(
      "gauge",
      "allclear_limiter_buckets",
      "Callers whose bucket is kept, full ones among them.",
      ({ buckets }) => buckets,
    ),
    byPolicy(
      "counter",
      "allclear_limiter_refusals_total",
      "Requests that were refused because a limit was used up.",
      ({ refused }) => refused,
    ),
    byPolicy(
      "counter",
      "allclear_limiter_overflows_total",
      "Requests that were counted against a shared bucket, for there was no room for one of their own.",
      ({ overflowed }) => overflowed,
    ),
  ];
}
