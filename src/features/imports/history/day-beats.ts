import { redactText } from "../../../base/secrets";
import { oneLine } from "../../../base/text";
import { DAY_MS, startOfDay } from "../../../base/time";
import type { BeatKind, HistoryChunk } from "../source";

/** Maximum number of beats of a monitor that are read of one day: two a second. */
export const BEATS_PER_DAY = 172_800;

const MESSAGE_MAX = 300;

/** Beats of one monitor and UTC day by columns, oldest first and each in a millisecond of its own. */
export class DayBeats {
  /** Start of the day in unix ms; -1 before the first beat. */
  day = -1;
  count = 0;
  #at = new Float64Array(2_048);
  #kind = new Uint8Array(2_048);
  #latencyMs = new Int32Array(2_048);
  readonly #messages = new Map<number, string>();

  at(index: number): number {
    return this.#at[index] ?? 0;
  }

  kind(index: number): BeatKind {
    return this.#kind[index] as BeatKind;
  }

  /** Latency in ms; negative without an answer. */
  latencyMs(index: number): number {
    return this.#latencyMs[index] ?? -1;
  }

  message(index: number): string | null {
    return this.#messages.get(index) ?? null;
  }

  /** Starts the day of a time (unix ms). */
  start(at: number): void {
    this.day = startOfDay(at);
    this.count = 0;
    this.#messages.clear();
  }

  /** Returns true for a time of this day. */
  has(at: number): boolean {
    return at >= this.day && at < this.day + DAY_MS && this.day >= 0;
  }

  /** Adds a beat of a chunk at a time of this day. Returns false if there are too many. */
  add(chunk: HistoryChunk, index: number, at: number): boolean {
    if (this.count >= BEATS_PER_DAY) return false;
    if (this.count === this.#at.length) this.#grow();
    this.#at[this.count] = at;
    this.#kind[this.count] = chunk.kind[index] ?? 0;
    this.#latencyMs[this.count] = chunk.latencyMs[index] ?? -1;
    const message = chunk.messages?.get(index);
    if (message !== undefined) this.#messages.set(this.count, shown(message));
    this.count += 1;
    return true;
  }

  #grow(): void {
    const size = this.#at.length * 2;
    const [at, kind, latencyMs] = [this.#at, this.#kind, this.#latencyMs];
    this.#at = new Float64Array(size);
    this.#at.set(at);
    this.#kind = new Uint8Array(size);
    this.#kind.set(kind);
    this.#latencyMs = new Int32Array(size);
    this.#latencyMs.set(latencyMs);
  }
}

/** Returns a text of the source in one line, without secrets and credentials in addresses. */
function shown(message: string): string {
  const text = message.slice(0, MESSAGE_MAX).replaceAll(/\/\/[^/@\s]*@/g, "//");
  return oneLine(redactText(text));
}
