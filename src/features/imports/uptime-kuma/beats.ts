import { OperatorError } from "../../../db/errors";
import { BEAT, type BeatKind, type HistoryChunk, type HistoryRange } from "../source";
import { cut, numeric } from "./foreign-database";
import type { KumaDatabase, Query } from "./database";
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
