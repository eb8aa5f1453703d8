import { parseJson } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import { OperatorError } from "../../db/errors";
import { cut, numeric, type Query } from "../foreign-database";
import {
  BEAT,
  type BeatKind,
  type ForeignKey,
  type FoundHistory,
  type HistoryChunk,
  type HistoryRange,
  type HistorySum,
  type LastState,
} from "../found";
import type { KumaDatabase } from "./database";

/**
 * Opens the history in a database of Uptime Kuma, with the beats before a time (unix ms), which then owns the
 * database. Returns undefined for a database without beats.
 */
export function openKumaHistory(kuma: KumaDatabase, now: number): KumaHistory | undefined {
  const columns = ["id", "monitor_id", "time", "status"];
  return columns.every((column) => kuma.has("heartbeat", column))
    ? new KumaHistory(kuma, now)
    : undefined;
}

/** History of the monitors of Uptime Kuma, whose keys are `monitor:` and their id. */
class KumaHistory implements FoundHistory {
  readonly #kuma: KumaDatabase;
  readonly #now: number;
  readonly #beats: BeatReader;
  readonly #sums: SumReader;
  readonly #last: LastBeats;

  constructor(kuma: KumaDatabase, now: number) {
    this.#kuma = kuma;
    this.#now = now;
    this.#beats = new BeatReader(kuma);
    this.#sums = new SumReader(kuma);
    this.#last = new LastBeats(kuma);
  }

  estimate(): { rows: number; range: HistoryRange | null } {
    return { rows: estimateRows(this.#kuma), range: findRange(this.#kuma, this.#now) };
  }

  lastState(monitor: ForeignKey): LastState | undefined {
    const id = idOf(monitor);
    return id === undefined ? undefined : this.#last.find(id, this.#now);
  }

  sums(monitor: ForeignKey, range: HistoryRange): HistorySum[] {
    const id = idOf(monitor);
    return id === undefined ? [] : this.#sums.read(id, this.#within(range));
  }

  beats(monitor: ForeignKey, range: HistoryRange): Iterable<HistoryChunk> {
    const id = idOf(monitor);
    return id === undefined ? [] : this.#beats.read(id, this.#within(range));
  }

  leftOut(): Record<string, number> {
    return countLeftOut(this.#kuma, this.#now);
  }

  /** Returns the part of a range in which beats are read. */
  #within({ from, until }: HistoryRange): HistoryRange {
    return { from: Math.max(from, FIRST_TIME), until: Math.min(until, this.#now) };
  }

  [Symbol.dispose](): void {
    this.#kuma[Symbol.dispose]();
  }
}

/** Returns the id of a monitor; undefined for the key of another object. */
function idOf(key: ForeignKey): number | undefined {
  const id = Number(/^monitor:(\d{1,15})$/.exec(key)?.[1]);
  return Number.isNaN(id) ? undefined : id;
}

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
class BeatReader {
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
function sumTablesOf(kuma: KumaDatabase): readonly (readonly [string, number])[] {
  const columns = ["monitor_id", "timestamp", "up", "down"];
  return TABLES.filter(([table]) => columns.every((column) => kuma.has(table, column)));
}

/** Reads the sums that Uptime Kuma 2 keeps longer than beats. */
class SumReader {
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

/** Maximum number of pending beats before an outage that are read. */
const PENDING_MAX = 1_000;

interface LastBeatRow {
  time: string;
  status: number | null;
}

/** Finds the states in which monitors are at their last beats. */
class LastBeats {
  readonly #newest: Query<LastBeatRow>;
  readonly #newestChange: Query<LastBeatRow & { msg: string | null }>;
  readonly #before: Query<LastBeatRow>;

  constructor(kuma: KumaDatabase) {
    const has = (column: string) => kuma.has("heartbeat", column);
    const beat = `time, ${numeric("status")} AS status`;
    const msg = has("msg") ? cut("msg", MESSAGE_MAX) : "NULL";
    // Changes of the state are important. The last one can be far back, and there is an index of them.
    const isChange = has("important") ? "AND important = 1" : "";
    // Texts that are not between times are none.
    const from = "FROM heartbeat WHERE monitor_id = ? AND time >= ? AND time < ?";
    const order = "ORDER BY time DESC, id DESC";
    this.#newest = kuma.prepare(`SELECT ${beat} ${from} ${order} LIMIT 1`);
    this.#newestChange = kuma.prepare(
      `SELECT ${beat}, ${msg} AS msg ${from} ${isChange} ${order} LIMIT 1`,
    );
    this.#before = kuma.prepare(`SELECT ${beat} ${from} ${order} LIMIT ${PENDING_MAX}`);
  }

  /**
   * Returns the state of a monitor before a time (unix ms); undefined without such a beat. It is up during
   * maintenance. Pending beats leave it as it was.
   */
  find(monitor: number, now: number): LastState | undefined {
    const range = [monitor, textOfTime(FIRST_TIME), textOfTime(now)] as const;
    const [newest] = this.#newest.all(...range);
    const at = parseTime(newest?.time);
    if (!newest || at === undefined) return undefined;
    const [change] = this.#newestChange.all(...range);
    const status = newest.status === BEAT.pending ? change?.status : newest.status;
    if (status == null || status === BEAT.pending) return undefined;
    const since = (change?.status === status ? parseTime(change?.time) : undefined) ?? at;
    if (status !== BEAT.down) return { state: "up", since, at, message: null };
    const message = change?.msg ?? null;
    return { state: "down", since: this.#firstFailure(monitor, since), at, message };
  }

  /** Returns the time of the first of the pending beats right before an outage; that of the outage without any. */
  #firstFailure(monitor: number, outage: number): number {
    let first = outage;
    const range = [textOfTime(FIRST_TIME), textOfTime(outage)] as const;
    for (const { time, status } of this.#before.all(monitor, ...range)) {
      const at = parseTime(time);
      if (status !== BEAT.pending || at === undefined) break;
      first = at;
    }
    return first;
  }
}

/** Number of ids up to which all rows are counted. Of more, `SAMPLES` ranges of `SAMPLE_IDS` ids are. */
const COUNTED_MAX = 200_000;

const SAMPLES = 200;

const SAMPLE_IDS = 500;

/** Maximum number of deleted monitors whose rows are counted. */
const DELETED_MAX = 100_000;

/** First text behind those that begin with a digit. */
const BEHIND_TIMES = ":";

/** Maximum number of rows of a database whose beats can be found without an index. */
const WITHOUT_INDEX_MAX = 1_000_000;

/** Returns true if the beats of a monitor can be found in short time. */
export function canFindBeats(kuma: KumaDatabase): boolean {
  if (kuma.rowsMax <= WITHOUT_INDEX_MAX) return true;
  const [found] = kuma
    .prepare<{ count: number }>(
      `SELECT count(*) AS count FROM pragma_index_list('heartbeat') AS i,
         pragma_index_info(i.name) AS first, pragma_index_info(i.name) AS second
       WHERE i.partial = 0 AND first.seqno = 0 AND first.name = 'monitor_id'
         AND second.seqno = 1 AND second.name = 'time'`,
    )
    .all();
  return found !== undefined && found.count > 0;
}

/** Returns the number of beats, roughly: counting millions would take too long. */
function estimateRows(kuma: KumaDatabase): number {
  const idAt = (end: "min" | "max") =>
    kuma.prepare<{ id: number | null }>(`SELECT ${end}(id) AS id FROM heartbeat`).all()[0]?.id;
  const [first, last] = [Number(idAt("min") ?? 0), Number(idAt("max") ?? -1)];
  if (!Number.isFinite(last - first)) return 0;
  const counter = kuma.prepare<{ rows: number }>(
    "SELECT count(*) AS rows FROM heartbeat WHERE id >= ? AND id < ?",
  );
  const count = (from: number, until: number) => counter.all(from, until)[0]?.rows ?? 0;
  const ids = last - first + 1;
  if (ids <= COUNTED_MAX) return count(first, last + 1);
  // Old beats may have been deleted and new ones not, so samples are taken everywhere.
  let counted = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const from = first + Math.floor(((ids - SAMPLE_IDS) * sample) / (SAMPLES - 1));
    counted += count(from, from + SAMPLE_IDS);
  }
  return Math.min(Math.round((ids * counted) / (SAMPLES * SAMPLE_IDS)), kuma.rowsMax);
}

/** Returns the time from the first beat or sum of a monitor up to the last one; null without any. */
function findRange(kuma: KumaDatabase, now: number): HistoryRange | null {
  const ends = <Value extends string | number>(
    table: string,
    column: string,
    first: Value,
    until: Value,
  ) => {
    const end = (side: "min" | "max") =>
      `${side}((SELECT ${side}(${column}) FROM ${table}
         WHERE monitor_id = m.id AND ${column} >= ?1 AND ${column} < ?2)) AS ${side}`;
    return kuma
      .prepare<Record<"min" | "max", Value | null>>(
        `SELECT ${end("min")}, ${end("max")} FROM monitor m`,
      )
      .all(first, until)[0];
  };
  const ranges: HistoryRange[] = [];
  const beats = ends<string>("heartbeat", "time", textOfTime(FIRST_TIME), textOfTime(now));
  if (beats?.min != null) {
    // Texts that are no times can be among those that are.
    const [from = FIRST_TIME, last = now - 1] = [parseTime(beats.min), parseTime(beats.max)];
    ranges.push({ from, until: last + 1 });
  }
  for (const [table, size] of sumTablesOf(kuma)) {
    const [first, until] = [FIRST_TIME / SECOND_MS, Math.ceil(now / SECOND_MS)];
    const sums = ends<number>(table, "timestamp", first, until);
    if (sums?.min == null || sums.max == null) continue;
    const end = Math.min(sums.max * SECOND_MS + size, now);
    ranges.push({ from: sums.min * SECOND_MS, until: end });
  }
  if (ranges.length === 0) return null;
  return {
    from: Math.min(...ranges.map(({ from }) => from)),
    until: Math.max(...ranges.map(({ until }) => until)),
  };
}

/** Counts the beats that are not among those of any monitor at any time, by reason. */
function countLeftOut(kuma: KumaDatabase, now: number): Record<string, number> {
  const counted = (where: string) =>
    `(SELECT sum((SELECT count(*) FROM heartbeat WHERE monitor_id = m.id AND ${where})) FROM monitor m)`;
  const [row] = kuma
    .prepare<Record<"deleted" | "unreadable" | "early" | "future", number | null>>(
      `WITH RECURSIVE known (id) AS (
         SELECT min(monitor_id) FROM heartbeat UNION ALL
         SELECT (SELECT min(monitor_id) FROM heartbeat WHERE monitor_id > known.id) FROM known
         WHERE known.id IS NOT NULL LIMIT ${DELETED_MAX}
       )
       SELECT (
           SELECT sum((SELECT count(*) FROM heartbeat WHERE monitor_id = known.id)) FROM known
           WHERE id NOT IN (SELECT id FROM monitor)
         ) AS deleted,
         ${counted("time < ''")} + ${counted("time >= ?3")} AS unreadable,
         ${counted("time >= '' AND time < ?1")} AS early,
         ${counted("time >= ?2 AND time < ?3")} AS future`,
    )
    .all(textOfTime(FIRST_TIME), textOfTime(now), BEHIND_TIMES);
  const reasons = {
    "of a deleted monitor": row?.deleted,
    unreadable: row?.unreadable,
    "before 2021": row?.early,
    "in the future": row?.future,
  };
  return Object.fromEntries(
    Object.entries(reasons).flatMap(([reason, count]) => (count ? [[reason, count]] : [])),
  );
}

/** Earliest valid time, in unix ms. Uptime Kuma exists since 2021: earlier times are of wrong clocks. */
const FIRST_TIME = Date.UTC(2021, 0, 1);

/** Form in which Uptime Kuma writes times, in UTC. Older versions write no milliseconds. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?$/;

/** Returns a time of Uptime Kuma in unix ms; undefined for everything else. */
function parseTime(value: unknown): number | undefined {
  if (typeof value !== "string" || !TIME.test(value)) return undefined;
  const time = Date.parse(`${value}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** Returns a time (unix ms) as Uptime Kuma writes it. Texts of later times sort behind it. */
function textOfTime(time: number): string {
  const [date, clock = ""] = new Date(time).toISOString().split("T");
  // A time without milliseconds sorts before the same one with them.
  return `${date} ${clock.slice(0, clock.endsWith(".000Z") ? 8 : 12)}`;
}
