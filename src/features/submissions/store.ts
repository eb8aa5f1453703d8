import { eq, lt, sql } from "drizzle-orm";
import { insertInto, mutate, selectOne } from "../../db/statements";
import { formSubmissions } from "../../db/tables/settings";

export const insertSubmission = insertInto(formSubmissions);

export const findSubmission = selectOne((orm, $: { hash: Buffer }) =>
  orm.select().from(formSubmissions).where(eq(formSubmissions.hash, $.hash)),
);

/** Deletes forms sent before `at`, at most `limit`. */
export const deleteSubmissionsBefore = mutate((orm, $: { at: number; limit: number }) =>
  orm
    .delete(formSubmissions)
    .where(
      sql`${formSubmissions.hash} IN ${orm
        .select({ hash: formSubmissions.hash })
        .from(formSubmissions)
        .where(lt(formSubmissions.at, $.at))
        .limit($.limit)}`,
    ),
);
