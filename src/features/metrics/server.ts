import type { Db } from "../../db/database";
import { VERSION } from "../../version";
import type { BucketFigures, Limiter } from "../limits/limiter";
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
      "Size of the database, including free space.",
      () => db.figures().sizeBytes,
    ),
    single(
      "gauge",
      "allclear_database_free_bytes",
      "Free space within the database.",
      () => db.figures().freeBytes,
    ),
    single(
      "gauge",
      "allclear_database_wal_bytes",
      "Size of the write-ahead log.",
      () => db.figures().walBytes,
    ),
    single(
      "gauge",
      "allclear_database_changes_waiting",
      "Changes waiting to be written.",
      () => db.figures().waiting,
    ),
    single(
      "counter",
      "allclear_database_batches_total",
      "Committed transactions.",
      () => db.figures().batches,
    ),
    single(
      "counter",
      "allclear_database_changes_total",
      "Changes written in transactions.",
      () => db.figures().changes,
    ),
    single(
      "counter",
      "allclear_database_refusals_total",
      "Changes that could not be stored because the database was full, locked or failing.",
      () => db.figures().rejected,
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
      "Callers with a bucket in memory, including full ones.",
      ({ buckets }) => buckets,
    ),
    byPolicy(
      "counter",
      "allclear_limiter_refusals_total",
      "Requests rejected because a limit was used up.",
      ({ rejected }) => rejected,
    ),
    byPolicy(
      "counter",
      "allclear_limiter_overflows_total",
      "Requests charged to a counter of several callers, because there was no room for a bucket of their own.",
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
      help: "Always 1; the labels name version and runtime.",
      labelNames: ["version", "runtime"],
      read: () => [{ labels: { version: VERSION, runtime: `bun ${Bun.version}` }, value: 1 }],
    },
    single(
      "counter",
      "process_cpu_seconds_total",
      "User and system CPU time of the process.",
      () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    ),
    single("gauge", "process_resident_memory_bytes", "Resident memory of the process.", () =>
      process.memoryUsage.rss(),
    ),
    single(
      "gauge",
      "process_start_time_seconds",
      "Start of the process in unix time.",
      () => performance.timeOrigin / 1_000,
    ),
  ];
}
