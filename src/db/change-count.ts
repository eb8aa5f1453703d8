import { sql } from "drizzle-orm";
import { selectOne } from "./statements";

/**
 * Returns the number of rows that this connection has written since it was opened, including those
 * that were rolled back. It never decreases while the connection is open.
 */
export const countChanges = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ count: sql<number>`total_changes()` }).from(sql`(SELECT 1)`),
);
