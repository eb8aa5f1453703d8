import { LRUCache } from "lru-cache";
import type { Reader } from "../../db/statements";
import { WHOLE_TURN } from "../../base/in-slices";
import { SECOND_MS } from "../../base/time";
import type { ComponentRow } from "../components/store";
import type { Interval } from "../components/history";
import {
  type ComponentHistory,
  figuresAt,
  foldHistories,
  type Gaps,
  type HistoryQuery,
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

/** Number of components whose histories are read in one turn of the event loop. */
const COMPONENTS_PER_STEP = 200;

export interface HistoryCache {
  read: ReadHistories;
  /**
   * Reads the histories that `read` would read, in several turns of the event loop for `runInSlices`. What changes
   * between two turns is read again by `read`.
   */
  steps(reader: Reader, query: HistoryQuery): Generator<number, void>;
  /** Drops what was prepared for a page and not read. */
  drop(pageId: string): void;
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
export function createHistoryCache(): HistoryCache {
  const cache = new LRUCache<string, CachedHistory>({
    maxSize: KEPT_MAX_SIZE,
    sizeCalculation: ({ history }) => history.size + 1,
  });

  /** Histories from `steps` by page and component until they are read. A large page exceeds the cache alone. */
  const prepared = new Map<string, Map<string, CachedHistory>>();

  /** Finds the history of a component if its figures are valid. */
  function findValid(
    query: HistoryQuery,
    component: ComponentRow,
    gaps: Gaps,
  ): ComponentHistory | undefined {
    const { page, open, now, isShared } = query;
    const { id, version } = component;
    const cached = prepared.get(page.id)?.get(id) ?? cache.get(id);
    const isValid =
      cached?.version === version &&
      (isShared
        ? cached.history.readAt === figuresAt(query, component)
        : cached.history.readAt <= now &&
          now < holdsUntil(cached.history.readAt) &&
          cached.history.uptime !== null &&
          (!open.has(id) || now < cached.history.readAt + MARKED_HOLD_MS)) &&
      cached.dayCount === page.historyDays &&
      isSame(cached.gaps, gaps.get(id) ?? []);
    return isValid ? cached.history : undefined;
  }

  /** Reads and caches the histories of some components. */
  function fold(
    reader: Reader,
    query: HistoryQuery,
    components: readonly ComponentRow[],
    gaps: Gaps,
  ): Map<string, ComponentHistory> {
    const fresh = foldHistories(reader, { ...query, components }, gaps);
    for (const { id, version } of components) {
      const history = fresh.get(id);
      if (!history) continue;
      const dayCount = query.page.historyDays;
      const cached = { version, dayCount, gaps: gaps.get(id) ?? [], history };
      cache.set(id, cached);
      prepared.get(query.page.id)?.set(id, cached);
    }
    return fresh;
  }

  return {
    read(reader, query) {
      const gaps = readGaps(reader, query);
      const valid = new Map<string, ComponentHistory>();
      for (const component of query.components) {
        const history = findValid(query, component, gaps);
        if (history) valid.set(component.id, history);
      }
      prepared.delete(query.page.id);
      const components = query.components.filter(({ id }) => !valid.has(id));
      if (components.length === 0) return valid;
      for (const [id, history] of fold(reader, query, components, gaps)) valid.set(id, history);
      return valid;
    },
    *steps(reader, query) {
      const gaps = readGaps(reader, query);
      if (!prepared.has(query.page.id)) prepared.set(query.page.id, new Map());
      const missing = query.components.filter((one) => !findValid(query, one, gaps));
      for (let start = 0; start < missing.length; start += COMPONENTS_PER_STEP) {
        yield WHOLE_TURN;
        fold(reader, query, missing.slice(start, start + COMPONENTS_PER_STEP), gaps);
      }
      yield WHOLE_TURN;
    },
    drop: (pageId) => void prepared.delete(pageId),
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
