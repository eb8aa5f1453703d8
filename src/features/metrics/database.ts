import type { Db } from "../../db";
import { type MetricFamily, single } from "./family";

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
