import { cutName } from "../texts";
import type { MonitorRow } from "./checked";
import { byId, idOf } from "./data";
import { flag, text } from "./values";

/** Longest chain of groups that is followed. */
const DEPTH_MAX = 20;

/** Groups of monitors, which are monitors themselves. */
export class MonitorTree {
  readonly #monitors: ReadonlyMap<number, MonitorRow>;
  readonly #children: ReadonlyMap<number, readonly MonitorRow[]>;

  readonly #members = new Map<MonitorRow, readonly MonitorRow[]>();

  constructor(monitors: readonly MonitorRow[]) {
    this.#monitors = byId(monitors);
    this.#children = Map.groupBy(monitors, ({ parent }) => Number(parent ?? 0));
  }

  /** Lists the groups of a monitor, the nearest first. Ends where they form a circle. */
  groupsOf(monitor: MonitorRow): MonitorRow[] {
    const groups: MonitorRow[] = [];
    let group = this.#parentOf(monitor);
    while (group && group !== monitor && !groups.includes(group) && groups.length < DEPTH_MAX) {
      groups.push(group);
      group = this.#parentOf(group);
    }
    return groups;
  }

  /** Returns the names of the groups of a monitor, the outermost first; null without any. */
  labelOf(monitor: MonitorRow): string | null {
    const names = this.groupsOf(monitor).map(({ name }) => cutName(text(name), "Group").trim());
    const label = names.toReversed().join(" / ");
    return label === "" ? null : cutName(label, "Group").trim();
  }

  /** Returns true if a monitor and all of its groups are active. */
  isActive(monitor: MonitorRow): boolean {
    return [monitor, ...this.groupsOf(monitor)].every(({ active }) => flag(active));
  }

  /**
   * Lists the monitors in a group and in the groups in it, without the groups; a monitor itself. Groups are followed as
   * deep as those of a monitor.
   */
  membersOf(monitor: MonitorRow): readonly MonitorRow[] {
    const known = this.#members.get(monitor);
    if (known) return known;
    const found = new Set([monitor]);
    let level = [monitor];
    for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth += 1) {
      const children = level.flatMap((each) =>
        isGroup(each) ? (this.#children.get(idOf(each)) ?? []) : [],
      );
      level = children.filter((child) => !found.has(child));
      for (const child of level) found.add(child);
    }
    const members = [...found].filter((each) => !isGroup(each));
    this.#members.set(monitor, members);
    return members;
  }

  #parentOf({ parent }: MonitorRow): MonitorRow | undefined {
    return parent === null ? undefined : this.#monitors.get(Number(parent));
  }
}

export function isGroup({ type }: MonitorRow): boolean {
  return text(type) === "group";
}
