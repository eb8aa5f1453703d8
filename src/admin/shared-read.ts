import { countChanges, type Db } from "../db";
import { SECOND_MS } from "../kernel/time";

/**
 * Returns `read` such that all dashboards that ask in the same second share its result until a
 * change is stored. Open screens ask every three seconds each, mostly for the same.
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
