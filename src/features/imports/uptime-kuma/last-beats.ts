import { MINUTE_MS, SECOND_MS } from "../../../kernel/time";
import { BEAT, type LastState } from "../source";
import { cut, type KumaDatabase, numeric, type Query } from "./database";
import { FIRST_TIME, parseTime, textOfTime } from "./times";

const MESSAGE_MAX = 300;

/** Maximum number of beats that are read for the start of a state. */
const BEATS_MAX = 500;

/** Longest time between two beats in which a monitor was checked: some intervals, and at least so many ms. */
const SILENCE_INTERVALS = 3;
const SILENCE_MS = 10 * MINUTE_MS;

interface BeatRow {
  time: string;
  status: number | null;
}

/** Finds the states in which monitors are at their last beats. */
export class LastBeats {
  readonly #newest: Query<BeatRow>;
  readonly #newestChange: Query<BeatRow & { msg: string | null }>;
  readonly #monitor: Query<{ interval: number | null }>;

  constructor(kuma: KumaDatabase) {
    const has = (column: string) => kuma.has("heartbeat", column);
    const beat = `time, ${numeric("status")} AS status`;
    const msg = has("msg") ? cut("msg", MESSAGE_MAX) : "NULL";
    // Changes of the state are important. The last one can be far back, and there is an index of them.
    const isChange = has("important") ? "AND important = 1" : "";
    // Texts that are not between times are none.
    const from = "FROM heartbeat WHERE monitor_id = ? AND time >= ? AND time < ?";
    const order = "ORDER BY time DESC, id DESC";
    this.#newest = kuma.prepare(`SELECT ${beat} ${from} ${order} LIMIT ${BEATS_MAX}`);
    this.#newestChange = kuma.prepare(
      `SELECT ${beat}, ${msg} AS msg ${from} ${isChange} ${order} LIMIT 1`,
    );
    const interval = kuma.has("monitor", "interval") ? numeric("interval") : "NULL";
    this.#monitor = kuma.prepare(`SELECT ${interval} AS interval FROM monitor WHERE id = ?`);
  }

  /**
   * Returns the state of a monitor before a time (unix ms); undefined without a beat. It is up during maintenance.
   * Pending beats leave it as it was.
   */
  find(monitor: number, now: number): LastState | undefined {
    const range = [textOfTime(FIRST_TIME), textOfTime(now)] as const;
    const newest = this.#newest.all(monitor, ...range);
    const at = parseTime(newest[0]?.time);
    if (at === undefined) return undefined;
    const [change] = this.#newestChange.all(monitor, ...range);
    const last = newest[0]?.status;
    const status = last === BEAT.pending ? change?.status : last;
    if (status !== BEAT.down) {
      return { state: "up", since: this.#upSince(monitor, newest, at), at, message: null };
    }
    const outage = (change?.status === BEAT.down ? parseTime(change.time) : undefined) ?? at;
    const since = this.#firstFailure(monitor, outage);
    return { state: "down", since, at, message: change?.msg ?? null };
  }

  /** Returns since when a monitor has been up and checked, or a later time if that is more beats ago than are read. */
  #upSince(monitor: number, newest: readonly BeatRow[], last: number): number {
    const intervalMs = (this.#monitor.all(monitor)[0]?.interval ?? 0) * SECOND_MS;
    const silence = Math.max(SILENCE_MS, SILENCE_INTERVALS * intervalMs);
    let [since, seen] = [last, last];
    for (const { time, status } of newest) {
      const at = parseTime(time);
      if (at === undefined || seen - at > silence) break;
      if (status === BEAT.up) since = at;
      else if (status !== BEAT.pending) break;
      seen = at;
    }
    return since;
  }

  /** Returns the time of the first of the pending beats right before an outage; that of the outage without any. */
  #firstFailure(monitor: number, outage: number): number {
    let first = outage;
    const before = this.#newest.all(monitor, textOfTime(FIRST_TIME), textOfTime(outage));
    for (const { time, status } of before) {
      const at = parseTime(time);
      if (status !== BEAT.pending || at === undefined) break;
      first = at;
    }
    return first;
  }
}
