import { BEAT, type LastState } from "../source";
import type { KumaDatabase, Query } from "./database";
import { cut, numeric } from "./foreign-database";
import { FIRST_TIME, parseTime, textOfTime } from "./times";

const MESSAGE_MAX = 300;

/** Maximum number of pending beats before an outage that are read. */
const PENDING_MAX = 1_000;

interface LastBeatRow {
  time: string;
  status: number | null;
}

/** Finds the states in which monitors are at their last beats. */
export class LastBeats {
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
