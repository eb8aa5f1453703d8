import { and, asc, desc, eq, isNotNull, lte, ne, or, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne } from "../../db";
import { oneTimeLinks, sessions, users } from "../../db/tables/users";

export const insertSession = insertInto(sessions);
export const insertLink = insertInto(oneTimeLinks);

/** A session's row with what its user decides of it. */
const SESSION_COLUMNS = {
  id: sessions.id,
  userId: sessions.userId,
  isSecure: sessions.isSecure,
  createdAt: sessions.createdAt,
  lastSeenAt: sessions.lastSeenAt,
  ip: sessions.ip,
  userAgent: sessions.userAgent,
  userEmail: users.email,
  userName: users.name,
  userRole: users.role,
  userDisabledAt: users.disabledAt,
  userDeletedAt: users.deletedAt,
};

export const findSessionRow = selectOne((orm, $: { hash: Buffer }) =>
  orm
    .select(SESSION_COLUMNS)
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.hash, $.hash)),
);

export type SessionRow = NonNullable<ReturnType<typeof findSessionRow>>;

/** Last seen first. */
export const listSessionRows = selectMany((orm, $: { userId: string }) =>
  orm
    .select(SESSION_COLUMNS)
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.userId, $.userId))
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt), asc(sessions.id)),
);

/** The addresses that sessions were last used from, the latest first. */
export const listRecentAddresses = selectMany((orm, $: { limit: number }) =>
  orm.select({ ip: sessions.ip }).from(sessions).orderBy(desc(sessions.lastSeenAt)).limit($.limit),
);

/** Never moves backwards: a use that was written late does not hide a later one. */
export const touchSessionRow = mutate((orm, $: { id: number; at: number; ip: string }) =>
  orm
    .update(sessions)
    .set({ lastSeenAt: $.at, ip: $.ip })
    .where(and(eq(sessions.id, $.id), lte(sessions.lastSeenAt, $.at))),
);

export const deleteSession = mutate((orm, $: { userId: string; id: number }) =>
  orm.delete(sessions).where(and(eq(sessions.userId, $.userId), eq(sessions.id, $.id))),
);

export const deleteSessionsOf = mutate((orm, $: { userId: string }) =>
  orm.delete(sessions).where(eq(sessions.userId, $.userId)),
);

export const deleteOtherSessionsOf = mutate((orm, $: { userId: string; exceptId: number }) =>
  orm.delete(sessions).where(and(eq(sessions.userId, $.userId), ne(sessions.id, $.exceptId))),
);

/** Keeps the newest `kept` of a user. */
export const deleteOldestSessions = mutate((orm, $: { userId: string; kept: number }) =>
  orm
    .delete(sessions)
    .where(
      sql`${sessions.id} IN (SELECT id FROM ${sessions} WHERE user_id = ${$.userId} ORDER BY created_at DESC LIMIT -1 OFFSET ${$.kept})`,
    ),
);

/** Those whose user is disabled or deleted, and those of these times and before. At most `limit`. */
export const deleteDeadSessions = mutate(
  (orm, $: { seenUntil: number; createdUntil: number; limit: number }) =>
    orm.delete(sessions).where(
      sql`${sessions.id} IN ${orm
        .select({ id: sessions.id })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(
          or(
            lte(sessions.lastSeenAt, $.seenUntil),
            lte(sessions.createdAt, $.createdUntil),
            isNotNull(users.disabledAt),
            isNotNull(users.deletedAt),
          ),
        )
        .limit($.limit)}`,
    ),
);

export const findLinkRow = selectOne((orm, $: { hash: Buffer }) =>
  orm.select().from(oneTimeLinks).where(eq(oneTimeLinks.hash, $.hash)),
);

export const deleteLink = mutate((orm, $: { hash: Buffer }) =>
  orm.delete(oneTimeLinks).where(eq(oneTimeLinks.hash, $.hash)),
);

type LinkRow = NonNullable<ReturnType<typeof findLinkRow>>;

/** Those of a purpose and a user, or of a purpose and nobody. */
export const deleteLinksFor = mutate(
  (orm, $: { purpose: LinkRow["purpose"]; userId: string | null }) =>
    orm
      .delete(oneTimeLinks)
      .where(and(eq(oneTimeLinks.purpose, $.purpose), sql`${oneTimeLinks.userId} IS ${$.userId}`)),
);

export const deleteLinksWithPurpose = mutate((orm, $: { purpose: LinkRow["purpose"] }) =>
  orm.delete(oneTimeLinks).where(eq(oneTimeLinks.purpose, $.purpose)),
);

export const deleteLinksOfUser = mutate((orm, $: { userId: string }) =>
  orm.delete(oneTimeLinks).where(eq(oneTimeLinks.userId, $.userId)),
);

/** Those that end at `now` or ended before. At most `limit`. */
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
