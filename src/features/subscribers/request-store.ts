import { and, desc, eq, gt, inArray, lt, ne, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { mailRequests } from "../../db/tables/mail";

export type RequestRow = typeof mailRequests.$inferSelect;

export const insertRequest = insertInto(mailRequests);

export const findRequest = selectOne((orm, $: { id: string }) =>
  orm.select().from(mailRequests).where(eq(mailRequests.id, $.id)),
);

/** Lists sign-ups that wait for a decision, oldest first. */
export const listWaitingRequests = selectMany((orm, $: { limit: number }) =>
  orm
    .select()
    .from(mailRequests)
    .where(sql`${mailRequests.state} = 'waiting'`)
    .orderBy(mailRequests.id)
    .limit($.limit),
);

export const setRequestState = mutate((orm, $: { id: string; state: RequestRow["state"] }) =>
  orm.update(mailRequests).set({ state: $.state }).where(eq(mailRequests.id, $.id)),
);

/** Lists the times of a client's latest sign-ups after `since`, newest first. */
export const listTimesOfClient = selectMany(
  (orm, $: { clientKey: string; since: number; limit: number }) =>
    orm
      .select({ at: mailRequests.requestedAt })
      .from(mailRequests)
      .where(and(eq(mailRequests.clientKey, $.clientKey), gt(mailRequests.requestedAt, $.since)))
      .orderBy(desc(mailRequests.requestedAt))
      .limit($.limit),
);

/** Lists the times of the latest sign-ups of a site's clients after `since`, newest first. */
export const listTimesOfSite = selectMany(
  (orm, $: { above: string; below: string; since: number; limit: number }) =>
    orm
      .select({ at: mailRequests.requestedAt })
      .from(mailRequests)
      .where(
        and(
          gt(mailRequests.clientKey, $.above),
          lt(mailRequests.clientKey, $.below),
          gt(mailRequests.requestedAt, $.since),
        ),
      )
      .orderBy(desc(mailRequests.requestedAt))
      .limit($.limit),
);

/** Sign-ups by the form with a mail: those sent, and those that are still to be decided. */
const hasMail = () => sql`${mailRequests.state} <> 'unsent' AND ${mailRequests.source} = 'form'`;

/** Finds the sign-up of a page after `since` that has `skipped` newer ones. */
export const findNthOfPage = selectOne(
  (orm, $: { pageId: string; since: number; skipped: number }) =>
    orm
      .select({ at: mailRequests.requestedAt })
      .from(mailRequests)
      .where(
        and(eq(mailRequests.pageId, $.pageId), gt(mailRequests.requestedAt, $.since), hasMail()),
      )
      .orderBy(desc(mailRequests.requestedAt))
      .limit(1)
      .offset($.skipped),
);

/** Finds the stored sign-up of no import after `since` that has `skipped` newer ones, with a mail or without. */
export const findNthStored = selectOne((orm, $: { since: number; skipped: number }) =>
  orm
    .select({ at: mailRequests.requestedAt })
    .from(mailRequests)
    // The same text as in the condition of the partial index, so that SQLite uses it.
    .where(and(gt(mailRequests.requestedAt, $.since), sql`${mailRequests.source} <> 'import'`))
    .orderBy(desc(mailRequests.requestedAt))
    .limit(1)
    .offset($.skipped),
);

/** Finds the sign-up of any page after `since` that has `skipped` newer ones. */
export const findNthOfAll = selectOne((orm, $: { since: number; skipped: number }) =>
  orm
    .select({ at: mailRequests.requestedAt })
    .from(mailRequests)
    .where(and(gt(mailRequests.requestedAt, $.since), hasMail()))
    .orderBy(desc(mailRequests.requestedAt))
    .limit(1)
    .offset($.skipped),
);

/** Lists the pages with at least `count` sign-ups with a mail after `since`. */
export const listBusyPages = selectMany((orm, $: { since: number; count: number }) =>
  orm
    .select({ pageId: mailRequests.pageId })
    .from(mailRequests)
    .where(and(gt(mailRequests.requestedAt, $.since), hasMail()))
    // Not by the index of pages, all of which would be read.
    .groupBy(sql`+${mailRequests.pageId}`)
    .having(sql`count(*) >= ${$.count}`),
);

/** Lists the states of a page's latest sign-ups with a mail before `until`. */
export const listStatesOfPage = selectMany(
  (orm, $: { pageId: string; until: number; limit: number }) =>
    orm
      .select({ state: mailRequests.state })
      .from(mailRequests)
      .where(
        and(eq(mailRequests.pageId, $.pageId), lt(mailRequests.requestedAt, $.until), hasMail()),
      )
      .orderBy(desc(mailRequests.requestedAt))
      .limit($.limit),
);

/** Lists the states of the latest sign-ups with a mail on any page before `until`. */
export const listStatesOfAll = selectMany((orm, $: { until: number; limit: number }) =>
  orm
    .select({ state: mailRequests.state })
    .from(mailRequests)
    .where(and(lt(mailRequests.requestedAt, $.until), hasMail()))
    .orderBy(desc(mailRequests.requestedAt))
    .limit($.limit),
);

/** Lists sign-ups after `since` for which a mail was sent to a recipient, newest first. */
export const listSentToRecipient = selectMany(
  (orm, $: { throttleKey: string; since: number; limit: number }) =>
    orm
      .select({ pageId: mailRequests.pageId, at: mailRequests.requestedAt })
      .from(mailRequests)
      .where(
        and(
          eq(mailRequests.throttleKey, $.throttleKey),
          gt(mailRequests.requestedAt, $.since),
          // The same text as in the condition of the partial index, so that SQLite uses it.
          sql`${mailRequests.state} IN ('sent', 'confirmed', 'void', 'declined')`,
        ),
      )
      .orderBy(desc(mailRequests.requestedAt))
      .limit($.limit),
);

/** Ends the sign-ups of an address on a page that are not confirmed, except one. */
export const voidOpenRequests = mutate(
  (orm, $: { addressKey: string; pageId: string; except: string }) =>
    orm
      .update(mailRequests)
      .set({ state: "void" })
      .where(
        and(
          eq(mailRequests.addressKey, $.addressKey),
          eq(mailRequests.pageId, $.pageId),
          ne(mailRequests.id, $.except),
          inArray(mailRequests.state, ["waiting", "sent"]),
        ),
      ),
);

/** Ends all sign-ups of an address that are not confirmed, on every page, as declined. */
export const declineRequestsOfAddress = mutate((orm, $: { addressKey: string }) =>
  orm
    .update(mailRequests)
    .set({ state: "declined" })
    .where(
      and(
        eq(mailRequests.addressKey, $.addressKey),
        inArray(mailRequests.state, ["waiting", "sent"]),
      ),
    ),
);

/** Ends the links of confirmed sign-ups of an address on a page, which lead to its choices. */
export const voidConfirmedRequests = mutate((orm, $: { addressKey: string; pageId: string }) =>
  orm
    .update(mailRequests)
    .set({ state: "void" })
    .where(
      and(
        eq(mailRequests.addressKey, $.addressKey),
        eq(mailRequests.pageId, $.pageId),
        eq(mailRequests.state, "confirmed"),
      ),
    ),
);

/** Deletes the sign-ups of an address, on a page or on all pages if `pageId` is null. */
export const deleteRequestsOfAddress = mutate(
  (orm, $: { addressKey: string; pageId: string | null }) =>
    orm
      .delete(mailRequests)
      .where(
        and(
          eq(mailRequests.addressKey, $.addressKey),
          sql`(${$.pageId} IS NULL OR ${mailRequests.pageId} = ${$.pageId})`,
        ),
      ),
);

/** Deletes up to `limit` sign-ups that cannot be confirmed any more. `now` is unix ms. */
export const deleteExpiredRequests = mutate((orm, $: { now: number; limit: number }) =>
  orm
    .delete(mailRequests)
    .where(
      sql`${mailRequests.id} IN (SELECT id FROM mail_requests WHERE expires_at <= ${$.now} LIMIT ${$.limit})`,
    ),
);
