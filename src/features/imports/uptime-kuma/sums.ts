import { parseJson } from "../../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import type { HistoryRange, HistorySum } from "../source";
import { cut, numeric } from "./foreign-database";
import type { KumaDatabase, Query } from "./database";

/** Tables of sums, with the size of their sums in ms. Uptime Kuma 1 has none. */
const TABLES = [
  ["stat_minutely", MINUTE_MS],
  ["stat_hourly", HOUR_MS],
  ["stat_daily", DAY_MS],
] as const;

/** Maximum number of sums of one size that are read of a range: those of 69 days in minutes. */
const SUMS_MAX = 100_000;

/** Largest number of results of a day: ten a second. */
const RESULTS_MAX = 864_000;

const LATENCY_MAX = 2 ** 31 - 1;
const EXTRAS_MAX = 1_000;

interface SumRow {
  timestamp: number;
  up: number | null;
  down: number | null;
  ping: number | null;
  ping_min: number | null;
  ping_max: number | null;
  extras: string | null;
}

/** Lists the tables of sums that a database has, with the size of their sums in ms. */
export function sumTablesOf(kuma: KumaDatabase): readonly (readonly [string, number])[] {
  const columns = ["monitor_id", "timestamp", "up", "down"];
  return TABLES.filter(([table]) => columns.every((column) => kuma.has(table, column)));
}

/** Reads the sums that Uptime Kuma 2 keeps longer than beats. */
export class SumReader {
  readonly #queries: readonly { size: number; query: Query<SumRow> }[];

  constructor(kuma: KumaDatabase) {
    this.#queries = sumTablesOf(kuma).map(([table, size]) => {
      const numbers = ["timestamp", "up", "down", "ping", "ping_min", "ping_max"].map(
        (column) => `${kuma.has(table, column) ? numeric(column) : "NULL"} AS ${column}`,
      );
      const extras = kuma.has(table, "extras") ? cut("extras", EXTRAS_MAX) : "NULL";
      return {
        size,
        query: kuma.prepare<SumRow>(
          `SELECT ${numbers.join(", ")}, ${extras} AS extras FROM ${table}
           WHERE monitor_id = ? AND timestamp >= ? AND timestamp < ?
           ORDER BY timestamp LIMIT ${SUMS_MAX}`,
        ),
      };
    });
  }

  /** Reads the sums of a monitor that begin in a range. Those that cannot be are left out. */
  read(monitor: number, range: HistoryRange): HistorySum[] {
    return this.#queries.flatMap(({ size, query }) =>
      query
        .all(monitor, Math.ceil(range.from / SECOND_MS), Math.ceil(range.until / SECOND_MS))
        .flatMap((row) => sumOf(row, size) ?? []),
    );
  }
}

/**
 * Returns a sum. The mean of latencies is that of all results that are up. A monitor without latencies, such as a job
 * that sends none, has zeros.
 */
function sumOf(row: SumRow, size: number): HistorySum | undefined {
  const [up, down] = [countOf(row.up), countOf(row.down)];
  if (up === undefined || down === undefined) return undefined;
  const [mean, min, max] = [
    latencyOfSum(row.ping),
    latencyOfSum(row.ping_min),
    latencyOfSum(row.ping_max),
  ];
  const hasLatency = mean !== null && up > 0;
  return {
    size,
    // Sums that Uptime Kuma made of older beats may begin in other time zones, which differ by half an hour.
    at: Math.floor((row.timestamp * SECOND_MS) / size) * size,
    checks: up + down,
    failures: down,
    answers: hasLatency ? up : 0,
    latencySum: hasLatency ? mean * up : null,
    latencyMin: hasLatency ? min : null,
    latencyMax: hasLatency ? max : null,
    maintenance: maintenanceIn(row.extras),
  };
}

function countOf(value: number | null): number | undefined {
  return value !== null && Number.isInteger(value) && value >= 0 && value <= RESULTS_MAX
    ? value
    : undefined;
}

/** Returns a latency in ms; null for none, which is zero. */
function latencyOfSum(value: number | null): number | null {
  return value !== null && value > 0 && value <= LATENCY_MAX ? value : null;
}

function maintenanceIn(extras: string | null): number {
  const parsed = extras === null ? undefined : parseJson(extras);
  const { maintenance } = (parsed ?? {}) as { maintenance?: unknown };
  return (typeof maintenance === "number" ? countOf(maintenance) : undefined) ?? 0;
}
