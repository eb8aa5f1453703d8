import { LRUCache } from "lru-cache";
import { SECOND_MS } from "../../base/time";
import type { Db } from "../../db/database";
import { countChanges } from "../../db/statements";
import { isLiveRefresh } from "../../http/answers";

/**
 * Returns a function whose callers share one result of `read` for a second, or until a change is stored.
 * Every open screen requests the same data every three seconds.
 */
export function shareRead<T>(
  db: Pick<Db, "foreignVersion" | "statements">,
  read: (now: number) => T,
): (now: number) => T {
  let last: { key: string; value: T } | undefined;
  return (now) => {
    const second = Math.floor(now / SECOND_MS);
    const key = `${second} ${db.foreignVersion()} ${countChanges(db, {})?.count}`;
    if (last?.key !== key) last = { key, value: read(now) };
    return last.value;
  };
}

/** Time for which refreshes of open screens share figures. */
const SHARED_MS = 15 * SECOND_MS;
const SHARED_MAX = 20;

/** Figures as they were at a time (unix ms). */
interface Figures {
  now: number;
}

/** Reads the figures with this key, or returns those that another request has read. */
type ReadFigures = <View extends Figures>(
  request: Request,
  key: string,
  now: number,
  read: () => Promise<View>,
) => Promise<View>;

/**
 * Returns a function that reads figures for people who open a screen. Refreshes of open screens share the
 * last result for 15 seconds, since reading many components or monitors takes a large part of a second.
 */
export function shareFigures(): ReadFigures {
  const cache = new LRUCache<string, { readAt: number; view: Promise<Figures> }>({
    max: SHARED_MAX,
  });
  return <View extends Figures>(
    request: Request,
    key: string,
    now: number,
    read: () => Promise<View>,
  ) => {
    const cached = cache.get(key);
    const age = cached ? now - cached.readAt : Number.POSITIVE_INFINITY;
    // A key has one reader, so that the type of its result is known.
    if (cached && isLiveRefresh(request) && age >= 0 && age < SHARED_MS)
      return cached.view as Promise<View>;
    const view = read();
    cache.set(key, { readAt: now, view });
    void view.then(undefined, () => cache.delete(key));
    return view;
  };
}
