import { parseJson } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import { OperatorError } from "../../db/errors";
import {
  BEAT,
  type BeatKind,
  type HistoryChunk,
  type HistoryRange,
  type HistorySum,
} from "../source";
import type { KumaDatabase, Query } from "./database";
import { cut, numeric } from "./foreign-database";
import { parseTime, textOfTime } from "./times";

/** Maximum number of beats of a chunk. */
const CHUNK_MAX = 4_096;

const MESSAGE_MAX = 300;

/** Longest time of a beat, in bytes. */
const TIME_BYTES_MAX = 23;

const LATENCY_MAX = 2 ** 31 - 1;

/** Kinds of beats by their status. */
const KINDS: readonly BeatKind[] = [BEAT.down, BEAT.up, BEAT.pending, BEAT.maintenance];

interface BeatRow {
  time: string | null;
  status: number | null;
  ping: number | null;
  msg: string | null;
}

/** Reads the beats of monitors, in chunks that are reused. */
export class BeatReader {
  readonly #kuma: KumaDatabase;
  readonly #query: Query<BeatRow>;
  readonly #at = new Float64Array(CHUNK_MAX);
  readonly #kind = new Uint8Array(CHUNK_MAX);
  readonly #latencyMs = new Int32Array(CHUNK_MAX);
  readonly #messages = new Map<number, string>();

  constructor(kuma: KumaDatabase) {
    this.#kuma = kuma;
    const has = (column: string) => kuma.has("heartbeat", column);
    this.#query = kuma.prepare(`
      SELECT iif(octet_length(time) > ${TIME_BYTES_MAX}, NULL, time) AS time,
        ${numeric("status")} AS status,
        ${has("ping") ? numeric("ping") : "NULL"} AS ping,
        ${has("msg") ? `CASE WHEN status IN (0, 2) THEN ${cut("msg", MESSAGE_MAX)} END` : "NULL"} AS msg
      FROM heartbeat WHERE monitor_id = ? AND time >= ? AND time < ? ORDER BY time, id`);
  }

  /** Reads the beats of a monitor, oldest first. */
  *read(monitor: number, { from, until }: HistoryRange): Generator<HistoryChunk> {
    let chunk = this.#newChunk();
    let [lastAt, rows] = [from, 0];
    for (const row of this.#query.iterate(monitor, textOfTime(from), textOfTime(until))) {
      chunk.rows += 1;
      const at = parseTime(row.time);
      const kind = KINDS[row.status ?? -1];
      // The texts of dates that do not exist, such as 30 February, are in another order than their times.
      if (at === undefined || kind === undefined || at < lastAt || at >= until) {
        chunk.skipped = { unreadable: (chunk.skipped?.["unreadable"] ?? 0) + 1 };
      } else {
        lastAt = at;
        this.#at[chunk.count] = at;
        this.#kind[chunk.count] = kind;
        this.#latencyMs[chunk.count] = latencyOf(row.ping);
        if (row.msg !== null) this.#messages.set(chunk.count, row.msg);
        chunk.count += 1;
      }
      if (chunk.rows < CHUNK_MAX) continue;
      rows += chunk.rows;
      this.#requireSound(rows);
      yield chunk;
      chunk = this.#newChunk();
    }
    this.#requireSound(rows);
    if (chunk.rows > 0) yield chunk;
  }

  #newChunk(): HistoryChunk {
    this.#messages.clear();
    return {
      count: 0,
      at: this.#at,
      kind: this.#kind,
      latencyMs: this.#latencyMs,
      messages: this.#messages,
      rows: 0,
    };
  }

  /** Throws an OperatorError if another process changed the database, or it has more rows than it has room for. */
  #requireSound(rows: number): void {
    this.#kuma.requireUnchanged();
    if (rows > this.#kuma.rowsMax) throw new OperatorError(`${this.#kuma.path} is damaged.`);
  }
}

/** Returns a latency in whole ms; -1 for a value that is none. */
function latencyOf(ping: number | null): number {
  return ping !== null && ping >= 0 && ping <= LATENCY_MAX ? Math.round(ping) : -1;
}

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
