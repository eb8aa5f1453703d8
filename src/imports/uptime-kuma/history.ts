import type {
  ForeignKey,
  FoundHistory,
  HistoryChunk,
  HistoryRange,
  HistorySum,
  LastState,
} from "../source";
import { countLeftOut, estimateRows, findRange } from "./backup";
import { BeatReader, SumReader } from "./beats";
import type { KumaDatabase } from "./database";
import { LastBeats } from "./last-beats";
import { FIRST_TIME } from "./times";

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
