import { countChanges, type Db } from "../db";
import { SECOND_MS } from "../kernel/time";

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
