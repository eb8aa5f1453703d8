import type { Db } from "../../db";
import { VERSION } from "../../version";
import type { BucketFigures, Limiter } from "../limits";
import { type MetricFamily, single } from "./metrics";

/** Metrics of the database's size and writes. */
export function databaseFamilies(db: Pick<Db, "figures" | "storage">): MetricFamily[] {
  return [
    single(
      "gauge",
      "allclear_database_writable",
      "1 if changes can be stored, 0 while they are refused.",
      () => (db.storage().fault === undefined ? 1 : 0),
    ),
    single(
      "gauge",
      "allclear_database_damaged",
      "1 if the database file was found damaged since the start.",
      () => (db.storage().isDamaged ? 1 : 0),
    ),
    single(
      "gauge",
      "allclear_database_size_bytes",
      "The database, its free space included.",
      () => db.figures().sizeBytes,
    ),
    single(
      "gauge",
      "allclear_database_free_bytes",
      "What of it is free to be used again.",
      () => db.figures().freeBytes,
    ),
    single(
      "gauge",
      "allclear_database_wal_bytes",
      "The write-ahead log beside it.",
      () => db.figures().walBytes,
    ),
    single(
      "gauge",
      "allclear_database_changes_waiting",
      "Changes that wait to be written.",
      () => db.figures().waiting,
    ),
    single(
      "counter",
      "allclear_database_batches_total",
      "Transactions that were committed.",
      () => db.figures().batches,
    ),
    single(
      "counter",
      "allclear_database_changes_total",
      "Changes that were written in them.",
      () => db.figures().changes,
    ),
    single(
      "counter",
      "allclear_database_refusals_total",
      "Changes that could not be stored, for the database was full, locked or failing.",
      () => db.figures().refused,
    ),
  ];
}

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

/** Metrics of the process's resources, under the names of Prometheus's own libraries. */
export function processFamilies(): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_build_info",
      help: "Always 1; the labels say what is running.",
      labelNames: ["version", "runtime"],
      read: () => [{ labels: { version: VERSION, runtime: `bun ${Bun.version}` }, value: 1 }],
    },
    single(
      "counter",
      "process_cpu_seconds_total",
      "Time that processors spent on the process, its own and the system's for it.",
      () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    ),
    single("gauge", "process_resident_memory_bytes", "Memory that the process holds.", () =>
      process.memoryUsage.rss(),
    ),
    single(
      "gauge",
      "process_start_time_seconds",
      "When the process was started, in unix time.",
      () => performance.timeOrigin / 1_000,
    ),
  ];
}
