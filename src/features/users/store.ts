import { and, asc, desc, eq, gt, isNull, lt, lte, ne, or, sql } from "drizzle-orm";
import { deleteBy, findBy, listBy, setBy } from "../../db/rows";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db/statements";
import { apiKeys } from "../../db/tables/keys";
import { mailWarnings } from "../../db/tables/mail";
import { identities, passwordRequests, users } from "../../db/tables/users";

export type UserRow = typeof users.$inferSelect;

export const insertUser = insertInto(users);

export const updateUserRow = updateById(users);

const isPresent = isNull(users.deletedAt);

export const findUser = findBy(users, ["id"], { where: isPresent });

/** Finds a user by canonical email. */
export const findUserRowByEmail = findBy(users, ["email"], { where: isPresent });

export const findAnyUser = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ id: users.id }).from(users).where(isPresent).limit(1),
);

/** Lists all users, newest first, including disabled ones. */
export const listUserRows = listBy(users, [], { where: isPresent, order: [desc(users.id)] });

/** Lists the enabled owners except one user. `issuers` is a JSON list. */
export const listOtherLiveOwners = selectMany((orm, $: { exceptId: string; issuers: string }) =>
  orm
    .select({
      passwordHash: users.passwordHash,
      hasIdentity: sql<boolean>`EXISTS (SELECT 1 FROM identities WHERE user_id = users.id
        AND issuer IN (SELECT value FROM json_each(${$.issuers})))`.mapWith(Boolean),
    })
    .from(users)
    .where(
      and(eq(users.role, "owner"), isNull(users.disabledAt), isPresent, ne(users.id, $.exceptId)),
    ),
);

export const setLastLogin = setBy(users, ["id"], ["lastLoginAt"]);

/** Keys that a user created and that still work at `now`, oldest first. */
export const listLiveKeyRows = selectMany((orm, $: { userId: string; now: number }) =>
  orm
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.createdByKind, "user"),
        eq(apiKeys.createdById, $.userId),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, $.now)),
      ),
    )
    .orderBy(asc(apiKeys.id)),
);

/* Identities of other systems. */

export const insertIdentity = insertInto(identities);

export type IdentityRow = typeof identities.$inferSelect;

export const findIdentity = findBy(identities, ["issuer", "subject"]);

export const findIdentityById = findBy(identities, ["id"]);

export const listIdentitiesOf = listBy(identities, ["userId"], { order: [asc(identities.id)] });

export const setIdentityUsed = setBy(identities, ["id"], ["label", "lastUsedAt"]);

export const deleteIdentity = deleteBy(identities, ["id"]);

/* Requests for a new password by mail. */

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

export const setRequestAddress = setBy(passwordRequests, ["id"], ["address"]);

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

/* Keys that expire soon, and the warnings about them. */

const EXPIRING_KEY = {
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
      .select(EXPIRING_KEY)
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

export const findWarnedKey = findBy(apiKeys, ["id"]);

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
export const listKeyWarnings = listBy(mailWarnings, ["subject"]);

/** Deletes the warnings about keys until `until` (unix ms). */
export const deleteKeyWarningsBefore = mutate((orm, $: { until: number }) =>
  orm
    .delete(mailWarnings)
    .where(and(sql`substr(${mailWarnings.subject}, 1, 4) = 'key_'`, lte(mailWarnings.at, $.until))),
);
