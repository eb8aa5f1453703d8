import { desc } from "drizzle-orm";
import { insertInto, selectOne } from "../../db/statements";
import { terms } from "../../db/tables/settings";

/** Returns the last term in which this database was written. */
export const findLastTerm = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ term: terms.term }).from(terms).orderBy(desc(terms.term)).limit(1),
);

export const insertTerm = insertInto(terms);
