import type { SQLQueryBindings } from "bun:sqlite";
import { statSync } from "node:fs";
import { DAY_MS, HOUR_MS } from "../../base/time";
import { OperatorError } from "../../db/errors";
import { type DatabaseFile, findDatabaseFile, ForeignDatabase, numeric } from "../foreign-database";
import {
  BEAT,
  type ForeignKey,
  type Found,
  type FoundHistory,
  type HistoryChunk,
  type HistoryRange,
  type HistorySum,
  keyOf,
  type LastState,
  type LeftOut,
} from "../found";
import { cutName } from "../kit";
import type { FoundConfig } from "./config";

/** Maximum number of rows that are read of endpoints and of suites, and of those that are named as left out. */
const ENDPOINTS_MAX = 100_000;
const NAMED_MAX = 1_000;

const KEY_MAX = 1_000;

const TYPES = { endpoint: ["endpoint", "external-endpoint"], suite: ["suite"] } as const;

/** Adds the history in a database to a configuration. Throws an OperatorError for a file that is none of Gatus. */
export async function withHistory({ found, intervals }: FoundConfig, path: string): Promise<Found> {
  const database = await openGatusDatabase(path);
  try {
    const monitors = new Set(found.monitors.map(({ foreign }) => keyOf(foreign)));
    const sources = new Map<ForeignKey, HistorySource>();
    const leftOut: LeftOut[] = [];
    for (const table of ["endpoint", "suite"] as const) {
      for (const { id, key, name } of listKeys(database, table)) {
        const keys = TYPES[table].map((type) => keyOf({ type, id: key }));
        const monitor = keys.find((each) => monitors.has(each));
        if (monitor) {
          sources.set(monitor, { table, id, intervalMs: intervals.get(key) ?? 60_000 });
        } else if (leftOut.length < NAMED_MAX) {
          const foreign = { type: "history", id: cutName(key, "key", KEY_MAX), name };
          leftOut.push({ foreign, reason: `The configuration has no ${table} of this key.` });
        }
      }
    }
    return {
      ...found,
      history: new GatusHistory(database, sources),
      leftOut: [...found.leftOut, ...leftOut],
    };
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}

/** Lists the endpoints or the suites of a database. */
function listKeys(database: GatusDatabase, table: "endpoint" | "suite") {
  if (table === "suite" && !database.hasSuites) return [];
  const short = (column: string) =>
    `CASE WHEN typeof(${column}) = 'text' THEN substr(${column}, 1, ${KEY_MAX}) ELSE '' END`;
  const rows = database.prepareValues<[number, string, string, string]>(
    `SELECT ${table}_id, ${[`${table}_key`, `${table}_name`, `${table}_group`].map(short).join(", ")}
     FROM ${table}s WHERE typeof(${table}_id) = 'integer' ORDER BY 1 LIMIT ${ENDPOINTS_MAX}`,
  );
  return rows().map(([id, key, name, group]) => ({
    id,
    key,
    name: cutName(group === "" ? name : `${group}/${name}`, "an endpoint"),
  }));
}

const CHUNK_MAX = 4_096;

const NOT_IN_CONFIGURATION = "endpoint is not in the configuration";

/** History in a database of Gatus, which is closed with it. */
class GatusHistory implements FoundHistory {
  readonly #database: GatusDatabase;
  readonly #sources: ReadonlyMap<ForeignKey, HistorySource>;
  #last: { monitor: ForeignKey; loaded: Loaded } | undefined;

  constructor(database: GatusDatabase, sources: ReadonlyMap<ForeignKey, HistorySource>) {
    this.#database = database;
    this.#sources = sources;
  }

  estimate(): { rows: number; range: HistoryRange | null } {
    const { hasSuites } = this.#database;
    const tables = ["endpoint_results", "endpoint_uptimes", "endpoint_events"];
    const count = (table: string) => Number(this.#one(`SELECT count(*) FROM ${table}`) ?? 0);
    const rows = [...tables, ...(hasSuites ? ["suite_results"] : [])].map(count);
    // Ids rise with time.
    const endsOf = (table: string, id: string, column: string) =>
      ["ASC", "DESC"].map((order) =>
        timeOf(
          this.#one(`SELECT ${cutTime(column)} FROM ${table} ORDER BY ${id} ${order} LIMIT 1`),
        ),
      );
    const [from, until] = [TIMES.from / 1_000, TIMES.until / 1_000];
    const hours = ["min", "max"].map((end) =>
      this.#one(
        `SELECT ${end}(hour_unix_timestamp) FROM endpoint_uptimes
         WHERE typeof(hour_unix_timestamp) = 'integer' AND hour_unix_timestamp >= ${from} AND hour_unix_timestamp < ${until}`,
      ),
    );
    const times = [
      ...endsOf("endpoint_results", "endpoint_result_id", "timestamp"),
      ...endsOf("endpoint_events", "endpoint_event_id", "event_timestamp"),
      ...(hasSuites ? endsOf("suite_results", "suite_result_id", "timestamp") : []),
      ...hours.flatMap((seconds) => (seconds === null ? [] : Number(seconds) * 1_000)),
    ].filter((time) => time !== undefined);
    const range =
      times.length > 0 ? { from: Math.min(...times), until: Math.max(...times) + 1 } : null;
    return { rows: rows.reduce((sum, each) => sum + each, 0), range };
  }

  lastState(monitor: ForeignKey): LastState | undefined {
    const { at, kind } = this.#load(monitor);
    const last = at.length - 1;
    const isUp = (index: number) => kind[index] === BEAT.up || kind[index] === BEAT.upMark;
    if (last < 0) return undefined;
    let first = last;
    while (first > 0 && isUp(first - 1) === isUp(last)) first -= 1;
    const state = isUp(last) ? "up" : "down";
    return { state, since: at[first] ?? 0, at: at[last] ?? 0, message: null };
  }

  sums(monitor: ForeignKey, { from, until }: HistoryRange): readonly HistorySum[] {
    return this.#load(monitor).sums.filter(({ at }) => at >= from && at < until);
  }

  *beats(monitor: ForeignKey, { from, until }: HistoryRange): Iterable<HistoryChunk> {
    const { at, kind, latencyMs, skipped } = this.#load(monitor);
    const start = firstFrom(at, from);
    const end = firstFrom(at, until);
    // Skipped rows have no time, so they are counted with the oldest.
    let uncounted = start === 0 && end > 0 ? skipped : {};
    for (let index = start; index < end; index += CHUNK_MAX) {
      const last = Math.min(index + CHUNK_MAX, end);
      const others = Object.values(uncounted).reduce((sum, count) => sum + count, 0);
      yield {
        count: last - index,
        at: Float64Array.from(at.slice(index, last)),
        kind: Uint8Array.from(kind.slice(index, last)),
        latencyMs: Int32Array.from(latencyMs.slice(index, last)),
        rows: last - index + others,
        skipped: uncounted,
      };
      uncounted = {};
    }
  }

  leftOut(): Readonly<Record<string, number>> {
    const known = [...this.#sources.values()].flatMap(({ table, id }) =>
      table === "endpoint" ? [id] : [],
    );
    const tables = ["endpoint_results", "endpoint_uptimes", "endpoint_events"];
    const others = tables.reduce((sum, table) => {
      const sql = `SELECT count(*) FROM ${table} WHERE endpoint_id NOT IN (SELECT value FROM json_each(?))`;
      return sum + Number(this.#database.prepareValues(sql)(JSON.stringify(known))[0]?.[0] ?? 0);
    }, 0);
    return others === 0 ? {} : { [NOT_IN_CONFIGURATION]: others };
  }

  #one(sql: string): GatusValue | undefined {
    return this.#database.prepareValues(sql)()[0]?.[0];
  }

  /** Reads the whole history of a monitor. Gatus keeps a hundred results and sums of a month. */
  #load(monitor: ForeignKey): Loaded {
    if (this.#last?.monitor !== monitor) {
      const source = this.#sources.get(monitor);
      const loaded = source ? new Reader(this.#database).read(source) : emptyHistory();
      this.#last = { monitor, loaded };
    }
    return this.#last.loaded;
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

/** Returns the index of the first number that is not below a limit, in ascending numbers. */
function firstFrom(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Maximum number of rows of one endpoint in each table; older ones are skipped. */
const ROWS_MAX = 200_000;

/** Years in which Gatus has run, and may run, in unix ms. Other times are wrong. */
const TIMES = { from: Date.UTC(2015, 0), until: Date.UTC(2100, 0) };

/** Largest duration in ns, and largest numbers of a sum: a day of checks, and their time in ms. */
const DURATION_MAX = 1e15;
const CHECKS_MAX = 10_000_000;
const TIME_SUM_MAX = 1e12;

/** Longest text of a time, in bytes. */
const TIME_MAX = 100;

const BEYOND = `endpoint has more than ${ROWS_MAX.toLocaleString("en")} rows`;
const UNREADABLE = "time or value cannot be read";

/** Rows of a database that are the history of a monitor. */
interface HistorySource {
  table: "endpoint" | "suite";
  id: number;
  /** Interval of its checks, in ms. */
  intervalMs: number;
}

/** Beats of one monitor by columns, oldest first, and its sums. */
interface Loaded {
  at: number[];
  kind: number[];
  latencyMs: number[];
  sums: HistorySum[];
  skipped: Record<string, number>;
}

class Reader {
  readonly #database: GatusDatabase;
  readonly #loaded = emptyHistory();

  constructor(database: GatusDatabase) {
    this.#database = database;
  }

  read({ table, id, intervalMs }: HistorySource): Loaded {
    const loaded = this.#loaded;
    const { hasSuiteResults } = this.#database;
    const partOfSuite =
      table === "endpoint" && hasSuiteResults ? "AND suite_result_id IS NULL" : "";
    const answered = table === "endpoint" ? "connected" : "success";
    const results = this.#rows(
      `SELECT ${cutTime("timestamp")}, ${numbers("success", "duration", answered)} FROM ${table}_results
       WHERE ${table}_id = ? ${partOfSuite} ORDER BY ${table}_result_id DESC`,
      id,
    );
    const beats = results.flatMap(([time, success, duration, isAnswered]) => {
      const at = timeOf(time);
      if (
        at === undefined ||
        (success !== 0 && success !== 1) ||
        !isCount(duration, DURATION_MAX)
      ) {
        return this.#skip(UNREADABLE);
      }
      const kind = success === 1 ? BEAT.up : BEAT.down;
      // The job of an external endpoint connects to nothing, and may report no duration.
      const isMeasured = (isAnswered === 1 || kind === BEAT.up) && duration > 0;
      return [{ at, kind, latencyMs: isMeasured ? Math.round(duration / 1e6) : -1 }];
    });
    const marks = table === "endpoint" ? this.#marks(id) : [];
    const firstResult = beats.reduce((first, { at }) => Math.min(first, at), Infinity);
    const all = [...beats, ...marks.filter(({ at }) => at < firstResult)];
    all.sort((a, b) => a.at - b.at);
    for (const { at, kind, latencyMs } of all) {
      loaded.at.push(at);
      loaded.kind.push(kind);
      loaded.latencyMs.push(latencyMs);
    }
    if (table === "endpoint") loaded.sums.push(...this.#sums(id, intervalMs));
    return loaded;
  }

  /** Reads the events, which say when an endpoint became healthy or unhealthy. */
  #marks(id: number): { at: number; kind: number; latencyMs: number }[] {
    const kinds: Readonly<Record<string, number>> = {
      HEALTHY: BEAT.upMark,
      UNHEALTHY: BEAT.downMark,
    };
    const events = this.#rows(
      `SELECT ${cutTime("event_timestamp")}, ${cutTime("event_type")} FROM endpoint_events
       WHERE endpoint_id = ? ORDER BY endpoint_event_id DESC`,
      id,
    );
    return events.flatMap(([time, type]) => {
      const at = timeOf(time);
      if (at === undefined) return this.#skip(UNREADABLE);
      const kind = Object.hasOwn(kinds, String(type)) ? kinds[String(type)] : undefined;
      return kind === undefined ? [] : [{ at, kind, latencyMs: -1 }];
    });
  }

  /**
   * Reads the sums of hours. Gatus makes one of all hours of a day when they are older than two days, by the day of its
   * own time zone: it is taken as the day in UTC that has most of it.
   */
  #sums(id: number, intervalMs: number): HistorySum[] {
    const rows = this.#rows(
      `SELECT ${numbers("hour_unix_timestamp", "total_executions", "successful_executions", "total_response_time")}
       FROM endpoint_uptimes WHERE endpoint_id = ? ORDER BY hour_unix_timestamp DESC`,
      id,
    );
    const read = rows.flatMap(([hour, checks, successes, latency]) => {
      if (
        !isCount(hour, TIMES.until / 1_000) ||
        hour < TIMES.from / 1_000 ||
        !isCount(checks, CHECKS_MAX) ||
        !isCount(successes, checks) ||
        !isCount(latency, TIME_SUM_MAX)
      ) {
        return this.#skip(UNREADABLE);
      }
      return [{ at: hour * 1_000, checks, failures: checks - successes, latency }];
    });
    const mostInHour = 2 * Math.ceil(HOUR_MS / intervalMs);
    return read.map(({ at, checks, failures, latency }, index): HistorySum => {
      const later = read[index - 1]?.at ?? Infinity;
      const isDay = checks > mostInHour && later - at >= DAY_MS - HOUR_MS;
      return {
        size: isDay ? DAY_MS : HOUR_MS,
        at: isDay ? Math.round(at / DAY_MS) * DAY_MS : Math.floor(at / HOUR_MS) * HOUR_MS,
        checks,
        failures,
        answers: latency > 0 ? checks : 0,
        latencySum: latency > 0 ? latency : null,
        latencyMin: null,
        latencyMax: null,
        maintenance: 0,
      };
    });
  }

  /** Reads rows of an endpoint, and skips those beyond the limit. */
  #rows(sql: string, id: number): GatusValue[][] {
    const rows = this.#database.prepareValues(`${sql} LIMIT ${ROWS_MAX + 1}`)(id);
    if (rows.length <= ROWS_MAX) return rows;
    this.#skip(BEYOND);
    return rows.slice(0, ROWS_MAX);
  }

  #skip(reason: string): [] {
    const { skipped } = this.#loaded;
    skipped[reason] = (skipped[reason] ?? 0) + 1;
    return [];
  }
}

/** Returns true for a whole number from 0 to a maximum. */
function isCount(value: GatusValue | undefined, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max;
}

function emptyHistory(): Loaded {
  return { at: [], kind: [], latencyMs: [], sums: [], skipped: {} };
}

/** Returns an expression for a short text, without reading a huge one. */
function cutTime(column: string): string {
  return `CASE WHEN typeof(${column}) = 'text' AND octet_length(${column}) <= ${TIME_MAX} THEN ${column} END`;
}

/** Returns expressions for columns with numbers, without reading huge texts. */
function numbers(...columns: string[]): string {
  return columns.map((column) => numeric(column)).join(", ");
}

const TIME =
  /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d+)?(?: ?([+-]\d{2}):?(\d{2})|Z)?(?: .*)?$/;

/** Reads a time as Go writes it, such as `2026-11-22 01:46:31.071237007 +0000 UTC`. */
export function timeOf(value: GatusValue | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const [, day, time, fraction = "", hours = "+00", minutes = "00"] = TIME.exec(value) ?? [];
  const at = Date.parse(`${day}T${time}${fraction.slice(0, 4)}${hours}:${minutes}`);
  return at >= TIMES.from && at < TIMES.until ? at : undefined;
}

/** Value of a column. */
type GatusValue = string | number | null | Uint8Array;

/** Tables that are read, with the columns that they need. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  endpoints: ["endpoint_id", "endpoint_key", "endpoint_name", "endpoint_group"],
  endpoint_results: [
    "endpoint_result_id",
    "endpoint_id",
    "success",
    "connected",
    "duration",
    "timestamp",
  ],
  endpoint_uptimes: [
    "endpoint_id",
    "hour_unix_timestamp",
    "total_executions",
    "successful_executions",
    "total_response_time",
  ],
  endpoint_events: ["endpoint_event_id", "endpoint_id", "event_type", "event_timestamp"],
};

/** Tables and columns that Gatus has had only for some versions. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  suites: ["suite_id", "suite_key", "suite_name", "suite_group"],
  suite_results: ["suite_result_id", "suite_id", "success", "duration", "timestamp"],
};

/** Opens the SQLite database of Gatus for reading. Throws an OperatorError for every other file. */
async function openGatusDatabase(given: string): Promise<GatusDatabase> {
  if (statSync(given, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`${given} is a directory; the history is in a file.`);
  }
  return new GatusDatabase(given, await findDatabaseFile(given));
}

/** Database of Gatus. */
class GatusDatabase extends ForeignDatabase {
  /** True if the database has suites. */
  readonly hasSuites: boolean;
  /** True if results name the run of a suite that they are part of. */
  readonly hasSuiteResults: boolean;

  constructor(path: string, file: DatabaseFile) {
    super(path, file);
    for (const [table, columns] of Object.entries(TABLES)) {
      this.orClose(() => this.#require(table, columns));
    }
    this.hasSuites = Object.entries(FURTHER).every(([table, columns]) =>
      columns.every((column) => this.has(table, column)),
    );
    this.hasSuiteResults = this.has("endpoint_results", "suite_result_id");
  }

  /**
   * Prepares a query, whose rows are lists of their values. It throws an OperatorError if the database was opened by
   * another process since it was opened here without locks, since what was read may then be wrong.
   */
  prepareValues<Row extends GatusValue[]>(sql: string): (...values: SQLQueryBindings[]) => Row[] {
    const statement = this.read(() => this.sqlite.prepare(sql));
    return (...values) =>
      this.read(() => {
        const rows = statement.values(...values) as Row[];
        this.requireUnchanged();
        return rows;
      });
  }

  /** Throws an OperatorError for a database without a table, or with a view in its place. */
  #require(table: string, columns: readonly string[]): void {
    const missing = columns.find((column) => !this.has(table, column));
    if (missing === undefined) return;
    const { size = 0 } = this.tables.get(table) ?? {};
    const lack = size === 0 ? `table ${table}` : `column ${table}.${missing}`;
    throw new OperatorError(`${this.path} is no database of Gatus: it has no ${lack}.`);
  }
}
