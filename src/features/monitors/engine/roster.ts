import type { Reader } from "../../../db";
import { listVersions, listWatched } from "../standing-store";
import { renew, type Watched, watchedOf } from "./watched";

/** How many are read with one statement. */
const READ_AT_ONCE = 1_000;

export interface RosterChange {
  /** New, changed, paused or resumed. */
  changed: readonly Watched[];
  removed: readonly Watched[];
}

/** The monitors as they are in memory. */
export class Roster {
  readonly #byNum = new Map<number, Watched>();
  readonly #byId = new Map<string, Watched>();

  get size(): number {
    return this.#byNum.size;
  }

  [Symbol.iterator](): Iterator<Watched> {
    return this.#byNum.values();
  }

  find(id: string): Watched | undefined {
    return this.#byId.get(id);
  }

  ofNum(num: number): Watched | undefined {
    return this.#byNum.get(num);
  }

  /** Brings it in line with the database: reads every version, and whole only what has another one. */
  refresh(reader: Reader): RosterChange {
    const seen = new Set<number>();
    const stale: number[] = [];
    for (const { num, version } of listVersions(reader, {})) {
      seen.add(num);
      if (this.#byNum.get(num)?.version !== version) stale.push(num);
    }
    const removed = [...this.#byNum.values()].filter(({ num }) => !seen.has(num));
    for (const { num, id } of removed) {
      this.#byNum.delete(num);
      this.#byId.delete(id);
    }
    const changed: Watched[] = [];
    for (let start = 0; start < stale.length; start += READ_AT_ONCE) {
      const nums = JSON.stringify(stale.slice(start, start + READ_AT_ONCE));
      for (const row of listWatched(reader, { nums })) {
        const known = this.#byNum.get(row.num);
        if (known) renew(known, row);
        const watched = known ?? watchedOf(row);
        this.#byNum.set(row.num, watched);
        this.#byId.set(row.id, watched);
        changed.push(watched);
      }
    }
    return { changed, removed };
  }
}
