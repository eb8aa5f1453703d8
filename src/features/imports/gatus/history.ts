import {
  BEAT,
  type ForeignKey,
  type FoundHistory,
  type HistoryChunk,
  type HistoryRange,
  type HistorySum,
  type LastState,
} from "../source";
import type { GatusDatabase, GatusValue } from "./database";
import {
  cutTime,
  emptyHistory,
  type HistorySource,
  type Loaded,
  readHistory,
  timeOf,
  TIMES,
} from "./history-rows";

const CHUNK_MAX = 4_096;

const NOT_IN_CONFIGURATION = "endpoint is not in the configuration";

/** History in a database of Gatus, which is closed with it. */
export class GatusHistory implements FoundHistory {
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
      return sum + Number(this.#database.prepare(sql)(JSON.stringify(known))[0]?.[0] ?? 0);
    }, 0);
    return others === 0 ? {} : { [NOT_IN_CONFIGURATION]: others };
  }

  #one(sql: string): GatusValue | undefined {
    return this.#database.prepare(sql)()[0]?.[0];
  }

  /** Reads the whole history of a monitor. Gatus keeps a hundred results and sums of a month. */
  #load(monitor: ForeignKey): Loaded {
    if (this.#last?.monitor !== monitor) {
      const source = this.#sources.get(monitor);
      const loaded = source ? readHistory(this.#database, source) : emptyHistory();
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
