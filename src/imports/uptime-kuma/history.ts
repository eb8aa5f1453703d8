import { SECOND_MS } from "../../base/time";
import type {
  ForeignKey,
  FoundHistory,
  HistoryChunk,
  HistoryRange,
  HistorySum,
  LastState,
} from "../source";
import { BeatReader, SumReader, sumTablesOf } from "./beats";
import type { KumaDatabase } from "./database";
import { LastBeats } from "./last-beats";
import { FIRST_TIME, parseTime, textOfTime } from "./times";

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
export class KumaHistory implements FoundHistory {
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
export function estimateRows(kuma: KumaDatabase): number {
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
export function findRange(kuma: KumaDatabase, now: number): HistoryRange | null {
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
export function countLeftOut(kuma: KumaDatabase, now: number): Record<string, number> {
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
