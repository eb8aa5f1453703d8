import { and, asc, desc, eq, isNotNull, lte, ne, or, sql } from "drizzle-orm";
import { deleteBy, findBy, setBy } from "../../db/rows";
import { insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { oneTimeLinks, sessions, signInSteps, users } from "../../db/tables/users";

/* Sessions. */

export const insertSession = insertInto(sessions);

/** Columns of a session and of its user. */
const SESSION_COLUMNS = {
  id: sessions.id,
  userId: sessions.userId,
  isSecure: sessions.isSecure,
  createdAt: sessions.createdAt,
  lastSeenAt: sessions.lastSeenAt,
  ip: sessions.ip,
  userAgent: sessions.userAgent,
  identityId: sessions.identityId,
  userEmail: users.email,
  userName: users.name,
  userRole: users.role,
  userTimeZone: users.timeZone,
  userDisabledAt: users.disabledAt,
  userDeletedAt: users.deletedAt,
  hasSecondFactor:
    sql<boolean>`EXISTS (SELECT 1 FROM second_factors WHERE user_id = ${users.id})`.mapWith(
      Boolean,
    ),
};

export const findSessionRow = selectOne((orm, $: { hash: Buffer }) =>
  orm
    .select(SESSION_COLUMNS)
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.hash, $.hash)),
);

export type SessionRow = NonNullable<ReturnType<typeof findSessionRow>>;

/** Lists a user's sessions, last used first. */
export const listSessionRows = selectMany((orm, $: { userId: string }) =>
  orm
    .select(SESSION_COLUMNS)
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.userId, $.userId))
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt), asc(sessions.id)),
);

/** Lists the addresses of the latest uses of sessions, latest first. */
export const listRecentAddresses = selectMany((orm, $: { limit: number }) =>
  orm.select({ ip: sessions.ip }).from(sessions).orderBy(desc(sessions.lastSeenAt)).limit($.limit),
);

/** Writes the last use of a session. Never moves it back, since uses can be written late. */
export const touchSessionRow = mutate((orm, $: { id: number; at: number; ip: string }) =>
  orm
    .update(sessions)
    .set({ lastSeenAt: $.at, ip: $.ip })
    .where(and(eq(sessions.id, $.id), lte(sessions.lastSeenAt, $.at))),
);

export const deleteSession = deleteBy(sessions, ["userId", "id"]);

export const deleteSessionsOf = deleteBy(sessions, ["userId"]);

export const deleteOtherSessionsOf = mutate((orm, $: { userId: string; exceptId: number }) =>
  orm.delete(sessions).where(and(eq(sessions.userId, $.userId), ne(sessions.id, $.exceptId))),
);

/** Deletes all sessions of a user but the newest `kept`. */
export const deleteOldestSessions = mutate((orm, $: { userId: string; kept: number }) =>
  orm
    .delete(sessions)
    .where(
      sql`${sessions.id} IN (SELECT id FROM ${sessions} WHERE user_id = ${$.userId} ORDER BY created_at DESC LIMIT -1 OFFSET ${$.kept})`,
    ),
);

/**
 * Deletes sessions of disabled and deleted users, and sessions last used or created by these times; `identityUntil` is
 * that of sessions with an identity. At most `limit`.
 */
export const deleteDeadSessions = mutate(
  (orm, $: { seenUntil: number; createdUntil: number; identityUntil: number; limit: number }) =>
    orm.delete(sessions).where(
      sql`${sessions.id} IN ${orm
        .select({ id: sessions.id })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(
          or(
            lte(sessions.lastSeenAt, $.seenUntil),
            lte(sessions.createdAt, $.createdUntil),
            and(isNotNull(sessions.identityId), lte(sessions.createdAt, $.identityUntil)),
            isNotNull(users.disabledAt),
            isNotNull(users.deletedAt),
          ),
        )
        .limit($.limit)}`,
    ),
);

/* One-time links. */

export const insertLink = insertInto(oneTimeLinks);

export const findLinkRow = findBy(oneTimeLinks, ["hash"]);

export const deleteLink = deleteBy(oneTimeLinks, ["hash"]);

type LinkRow = typeof oneTimeLinks.$inferSelect;

/** Deletes the links of a purpose and a user; null for links without a user. */
export const deleteLinksFor = mutate(
  (orm, $: { purpose: LinkRow["purpose"]; userId: string | null }) =>
    orm
      .delete(oneTimeLinks)
      .where(and(eq(oneTimeLinks.purpose, $.purpose), sql`${oneTimeLinks.userId} IS ${$.userId}`)),
);

export const deleteLinksWithPurpose = deleteBy(oneTimeLinks, ["purpose"]);

export const deleteLinksOfUser = deleteBy(oneTimeLinks, ["userId"]);

/** Deletes links that end at `now` or ended before. At most `limit`. */
export const deleteDeadLinks = mutate((orm, $: { now: number; limit: number }) =>
  orm
    .delete(oneTimeLinks)
    .where(
      sql`${oneTimeLinks.hash} IN ${orm
        .select({ hash: oneTimeLinks.hash })
        .from(oneTimeLinks)
        .where(lte(oneTimeLinks.expiresAt, $.now))
        .limit($.limit)}`,
    ),
);

/* Steps between password and code. */

export const insertStep = insertInto(signInSteps);

export const findStepRow = findBy(signInSteps, ["hash"]);

export const setTries = setBy(signInSteps, ["hash"], ["tries"]);

export const deleteStep = deleteBy(signInSteps, ["hash"]);

export const deleteStepsOfUser = deleteBy(signInSteps, ["userId"]);

/** Deletes all steps of a user but the `kept` that end last. */
export const deleteOldestSteps = mutate((orm, $: { userId: string; kept: number }) =>
  orm
    .delete(signInSteps)
    .where(
      sql`${signInSteps.hash} IN (SELECT hash FROM ${signInSteps} WHERE user_id = ${$.userId} ORDER BY expires_at DESC LIMIT -1 OFFSET ${$.kept})`,
    ),
);

/** Deletes steps that end at `now` or ended before. At most `limit`. */
export const deleteDeadSteps = mutate((orm, $: { now: number; limit: number }) =>
  orm
    .delete(signInSteps)
    .where(
      sql`${signInSteps.hash} IN ${orm
        .select({ hash: signInSteps.hash })
        .from(signInSteps)
        .where(lte(signInSteps.expiresAt, $.now))
        .limit($.limit)}`,
    ),
);
