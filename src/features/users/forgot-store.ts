import { and, desc, eq, gt, lt, lte, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { passwordRequests } from "../../db/tables/users";

export const insertPasswordRequest = insertInto(passwordRequests);

/** Lists requests that wait for a decision, oldest first. */
export const listWaitingPasswordRequests = selectMany((orm, $: { limit: number }) =>
  orm
    .select()
    .from(passwordRequests)
    // The same text as in the condition of the partial index, so that SQLite uses it.
    .where(sql`${passwordRequests.address} IS NOT NULL`)
    .orderBy(passwordRequests.id)
    .limit($.limit),
);

/** Removes the address of a request that was decided about. */
export const forgetRequestAddress = mutate((orm, $: { id: number }) =>
  orm.update(passwordRequests).set({ address: null }).where(eq(passwordRequests.id, $.id)),
);

/** Finds the request of a client after `since` that has `skipped` newer ones. */
export const findNthRequestOf = selectOne(
  (orm, $: { clientKey: string; since: number; skipped: number }) =>
    orm
      .select({ at: passwordRequests.requestedAt })
      .from(passwordRequests)
      .where(
        and(eq(passwordRequests.clientKey, $.clientKey), gt(passwordRequests.requestedAt, $.since)),
      )
      .orderBy(desc(passwordRequests.requestedAt))
      .limit(1)
      .offset($.skipped),
);

/** Finds the request of the clients of a site after `since` that has `skipped` newer ones. */
export const findNthRequestOfSite = selectOne(
  (orm, $: { above: string; below: string; since: number; skipped: number }) =>
    orm
      .select({ at: passwordRequests.requestedAt })
      .from(passwordRequests)
      .where(
        and(
          gt(passwordRequests.clientKey, $.above),
          lt(passwordRequests.clientKey, $.below),
          gt(passwordRequests.requestedAt, $.since),
        ),
      )
      .orderBy(desc(passwordRequests.requestedAt))
      .limit(1)
      .offset($.skipped),
);

/** Finds the request after `since` that has `skipped` newer ones. */
export const findNthRequest = selectOne((orm, $: { since: number; skipped: number }) =>
  orm
    .select({ at: passwordRequests.requestedAt })
    .from(passwordRequests)
    .where(gt(passwordRequests.requestedAt, $.since))
    .orderBy(desc(passwordRequests.requestedAt))
    .limit(1)
    .offset($.skipped),
);

/** Deletes at most `limit` requests until `until` (unix ms). */
export const deletePasswordRequestsBefore = mutate((orm, $: { until: number; limit: number }) =>
  orm
    .delete(passwordRequests)
    .where(
      sql`${passwordRequests.id} IN ${orm
        .select({ id: passwordRequests.id })
        .from(passwordRequests)
        .where(lte(passwordRequests.requestedAt, $.until))
        .limit($.limit)}`,
    ),
);
