import { LRUCache } from "lru-cache";
import { SECOND_MS } from "../../kernel/time";
import type { Interval } from "../components";
import {
  type ComponentHistory,
  figuresAt,
  foldHistories,
  holdsUntil,
  readGaps,
  type ReadHistories,
} from "./component-histories";

/**
 * Maximum number of days and intervals of all components together, enough for some thousand
 * components with 90 days.
 */
const KEPT_MAX_SIZE = 200_000;
/**
 * Time for which the figures of a component with an open cause are valid, since they change as time
 * passes.
 */
const MARKED_HOLD_MS = 10 * SECOND_MS;

interface CachedHistory {
  version: number;
  dayCount: number;
  gaps: readonly Interval[];
  history: ComponentHistory;
}

/**
 * Creates a reader that caches histories by the component's version, which every change of causes
 * raises (`refreshStatuses`). Gaps do not raise it and are compared. The result is the same object
 * while nothing changes and its figures are valid: ten seconds with an open cause, and not at all
 * before any data. In a fleet they are valid for the time that all nodes share. Only for committed
 * data: a rolled back version is used again for other content.
 *
 * Without this cache, the status page after a change takes 4.1 times the processor time (200
 * components, 1,000 incidents), since the rows of components cannot be reused either.
 */
export function createHistoryCache(): ReadHistories {
  const cache = new LRUCache<string, CachedHistory>({
    maxSize: KEPT_MAX_SIZE,
    sizeCalculation: ({ history }) => history.size + 1,
  });
  return (reader, query) => {
    const { page, open, now } = query;
    const gaps = readGaps(reader, query);
    const valid = new Map<string, ComponentHistory>();
    for (const component of query.components) {
      const { id, version } = component;
      const cached = cache.get(id);
      const isValid =
        cached?.version === version &&
        (query.isShared
          ? cached.history.readAt === figuresAt(query, component)
          : cached.history.readAt <= now &&
            now < holdsUntil(cached.history.readAt) &&
            cached.history.uptime !== null &&
            (!open.has(id) || now < cached.history.readAt + MARKED_HOLD_MS)) &&
        cached.dayCount === page.historyDays &&
        isSame(cached.gaps, gaps.get(id) ?? []);
      if (isValid) valid.set(id, cached.history);
    }
    const components = query.components.filter(({ id }) => !valid.has(id));
    if (components.length === 0) return valid;
    const fresh = foldHistories(reader, { ...query, components }, gaps);
    for (const { id, version } of components) {
      const history = fresh.get(id);
      if (!history) continue;
      const dayCount = page.historyDays;
      const own = gaps.get(id) ?? [];
      cache.set(id, { version, dayCount, gaps: own, history });
      valid.set(id, history);
    }
    return valid;
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
