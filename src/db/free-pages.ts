import { sql } from "drizzle-orm";
import { mutate, selectOne, type Tx } from "./statements";

/** Number of free pages that one call returns, of 4 KB each: about 4 ms of work. */
const PAGES_PER_CALL = 256;
/** Free pages that stay in the file for new rows: one of 20, at least 1 MB. */
const KEPT_SHARE = 1 / 20;
const KEPT_AT_LEAST = 256;

const countPages = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ all: sql<number>`page_count`, free: sql<number>`freelist_count` })
    .from(sql`pragma_page_count, pragma_freelist_count`),
);

/** Moves the last pages of the file into free ones and cuts it. Without `auto_vacuum`, it has no effect. */
const cutFile = mutate((_orm, _$: Record<string, never>) => ({
  toSQL: () => ({ sql: `PRAGMA incremental_vacuum(${PAGES_PER_CALL})`, params: [] }),
}));

/**
 * Returns up to 256 free pages of the database file to the file system, but leaves a twentieth of the file free.
 * Returns true if there are more.
 */
export function returnFreePages(tx: Tx): boolean {
  const surplus = () => {
    const { all, free } = countPages(tx, {}) ?? { all: 0, free: 0 };
    return free - Math.max(KEPT_AT_LEAST, all * KEPT_SHARE);
  };
  const before = surplus();
  if (before < PAGES_PER_CALL) return false;
  cutFile(tx, {});
  // A file that another program wrote may be unable to shrink.
  return surplus() < before;
}
