import { and, asc, eq, gt, isNull, lte, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { apiKeys } from "../../db/tables/keys";
import { mailWarnings } from "../../db/tables/mail";
import { users } from "../../db/tables/users";

const COLUMNS = {
  id: apiKeys.id,
  name: apiKeys.name,
  // Only keys with an expiry are read.
  expiresAt: sql<number>`${apiKeys.expiresAt}`,
  createdAt: apiKeys.createdAt,
  createdByKind: apiKeys.createdByKind,
  createdById: apiKeys.createdById,
};

/** Lists the keys that work at `now` and expire until `until` (unix ms), the next to expire first. */
export const listExpiringKeyRows = selectMany(
  (orm, $: { now: number; until: number; limit: number }) =>
    orm
      .select(COLUMNS)
      .from(apiKeys)
      .where(
        and(
          isNull(apiKeys.revokedAt),
          gt(apiKeys.expiresAt, $.now),
          lte(apiKeys.expiresAt, $.until),
        ),
      )
      .orderBy(asc(apiKeys.expiresAt), asc(apiKeys.id))
      .limit($.limit),
);

export type ExpiringKeyRow = ReturnType<typeof listExpiringKeyRows>[number];

export const findKeyRow = selectOne((orm, $: { id: string }) =>
  orm
    .select({
      name: apiKeys.name,
      expiresAt: apiKeys.expiresAt,
      revokedAt: apiKeys.revokedAt,
      createdById: apiKeys.createdById,
    })
    .from(apiKeys)
    .where(eq(apiKeys.id, $.id)),
);

/** Lists the enabled owners. */
export const listLiveOwners = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(users)
    .where(and(eq(users.role, "owner"), isNull(users.disabledAt), isNull(users.deletedAt)))
    .orderBy(asc(users.id)),
);

export const insertKeyWarning = insertInto(mailWarnings);

/** Lists the warnings about a key that were queued. */
export const listKeyWarnings = selectMany((orm, $: { keyId: string }) =>
  orm
    .select({ step: mailWarnings.step, recipient: mailWarnings.recipient })
    .from(mailWarnings)
    .where(eq(mailWarnings.subject, $.keyId)),
);

/** Deletes the warnings about keys until `until` (unix ms). */
export const deleteKeyWarningsBefore = mutate((orm, $: { until: number }) =>
  orm
    .delete(mailWarnings)
    .where(and(sql`substr(${mailWarnings.subject}, 1, 4) = 'key_'`, lte(mailWarnings.at, $.until))),
);
