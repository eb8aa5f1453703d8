import { LRUCache } from "lru-cache";
import type { Interval } from "../components";
import {
  type ComponentHistory,
  foldHistories,
  readGaps,
  type ReadHistories,
  slotOf,
} from "./component-histories";

/** How many days, of all components together: those of some thousand components that show 90 each. */
const KEPT_MAX_DAYS = 200_000;

interface KeptHistory {
  /** The five minutes in which it was read. */
  slot: number;
  version: number;
  gaps: readonly Interval[];
  history: ComponentHistory;
}

/**
 * Reads histories, and keeps each for its component's version: every change of what marks a component,
 * or did, raises that (`refreshStatuses`). Gaps do not, and are compared. While nothing changes within
 * five minutes the answer is the same object. Only for committed data: a version that is rolled back
 * comes again with something else.
 */
export function createKeptHistories(): ReadHistories {
  const kept = new LRUCache<string, KeptHistory>({
    maxSize: KEPT_MAX_DAYS,
    sizeCalculation: ({ history }) => history.days.length + 1,
  });
  return (reader, query) => {
    const slot = slotOf(query.now);
    const gaps = readGaps(reader, query);
    const found = new Map<string, ComponentHistory>();
    for (const { id, version } of query.components) {
      const known = kept.get(id);
      const isValid =
        known?.slot === slot &&
        known.version === version &&
        known.history.days.length === query.page.historyDays &&
        isSame(known.gaps, gaps.get(id) ?? []);
      if (isValid) found.set(id, known.history);
    }
    const components = query.components.filter(({ id }) => !found.has(id));
    if (components.length === 0) return found;
    const fresh = foldHistories(reader, { ...query, components }, gaps);
    for (const { id, version } of components) {
      const history = fresh.get(id);
      if (!history) continue;
      kept.set(id, { slot, version, gaps: gaps.get(id) ?? [], history });
      found.set(id, history);
    }
    return found;
  };
}

function isSame(one: readonly Interval[], other: readonly Interval[]): boolean {
  return (
    one.length === other.length &&
    one.every(
      ({ startedAt, endedAt }, index) =>
        startedAt === other[index]?.startedAt && endedAt === other[index].endedAt,
    )
  );
}
