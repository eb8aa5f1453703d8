import type { Reader } from "../../../db/statements";
import { listVersions, listScheduledMonitors } from "../evaluation-store";
import { findMonitor } from "../store";
import { renew, type ScheduledMonitor, watchedOf } from "./scheduled-monitor";

/** Number of monitors read by one statement. */
const ROWS_PER_BATCH = 1_000;

interface RegistryChange {
  /** New, changed, paused or resumed. */
  changed: readonly ScheduledMonitor[];
  removed: readonly ScheduledMonitor[];
  /** True if further monitors have changed. */
  hasMore: boolean;
}

/** All monitors in memory. */
export class MonitorRegistry {
  readonly #byNum = new Map<number, ScheduledMonitor>();
  readonly #byId = new Map<string, ScheduledMonitor>();
  /** Monitors by the ids of those on which they depend; undefined until it is needed. */
  #dependents: Map<string, ScheduledMonitor[]> | undefined;

  get size(): number {
    return this.#byNum.size;
  }

  [Symbol.iterator](): Iterator<ScheduledMonitor> {
    return this.#byNum.values();
  }

  find(id: string): ScheduledMonitor | undefined {
    return this.#byId.get(id);
  }

  ofNum(num: number): ScheduledMonitor | undefined {
    return this.#byNum.get(num);
  }

  /** Returns the monitors that depend on a monitor. */
  dependentsOf(id: string): readonly ScheduledMonitor[] {
    this.#dependents ??= groupByParent(this.#byNum.values());
    return this.#dependents.get(id) ?? [];
  }

  /**
   * Updates the monitors from the database: reads all versions, and the rows of changed ones, at most of `limit`
   * monitors.
   */
  refresh(reader: Reader, limit: number = Number.POSITIVE_INFINITY): RegistryChange {
    this.#dependents = undefined;
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
    const changed: ScheduledMonitor[] = [];
    const end = Math.min(stale.length, limit);
    for (let start = 0; start < end; start += ROWS_PER_BATCH) {
      changed.push(
        ...this.#read(reader, stale.slice(start, Math.min(end, start + ROWS_PER_BATCH))),
      );
    }
    return { changed, removed, hasMore: end < stale.length };
  }

  /** Updates one monitor from the database. Returns it if it is new or changed, and null if there is none. */
  refreshOne(reader: Reader, id: string): ScheduledMonitor | null | undefined {
    const row = findMonitor(reader, { id });
    if (!row) return null;
    if (this.#byId.get(id)?.version === row.version) return undefined;
    this.#dependents = undefined;
    return this.#read(reader, [row.num])[0];
  }

  #read(reader: Reader, nums: readonly number[]): ScheduledMonitor[] {
    return listScheduledMonitors(reader, { nums: JSON.stringify(nums) }).map((row) => {
      const existing = this.#byNum.get(row.num);
      if (existing) renew(existing, row);
      const scheduled = existing ?? watchedOf(row);
      this.#byNum.set(row.num, scheduled);
      this.#byId.set(row.id, scheduled);
      return scheduled;
    });
  }
}

function groupByParent(monitors: Iterable<ScheduledMonitor>): Map<string, ScheduledMonitor[]> {
  const dependents = new Map<string, ScheduledMonitor[]>();
  for (const scheduled of monitors) {
    for (const id of scheduled.parents) {
      const others = dependents.get(id);
      if (others) others.push(scheduled);
      else dependents.set(id, [scheduled]);
    }
  }
  return dependents;
}
