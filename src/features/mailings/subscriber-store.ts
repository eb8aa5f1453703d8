import { and, asc, desc, eq, gt, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { mails, subscriberChoices, subscriberCounts, subscribers } from "../../db/tables/mail";

/** Finds the greatest number of a page's active subscribers. */
export const findLastSubscriber = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ seq: subscribers.seq })
    .from(subscribers)
    .where(and(eq(subscribers.pageId, $.pageId), sql`${subscribers.status} = 'active'`))
    .orderBy(desc(subscribers.seq))
    .limit(1),
);

/**
 * Condition: a subscriber chose a kind of event, and the whole page or one of the targets. The column is named
 * with its table, since `json_each` has an `id` too.
 */
const isIncluded = ($: { choice: string; targets: string }) =>
  sql<number>`instr(${subscribers.events}, ${$.choice}) > 0
    AND (${subscribers.scope} = 'page' OR EXISTS (
      SELECT 1 FROM subscriber_choices AS choice
      WHERE choice.subscriber_id = subscribers.id
        AND choice.target_id IN (SELECT value FROM json_each(${$.targets}))))`;

/** Lists the numbers of a page's active subscribers by their choices. */
export const listSubscriberCounts = selectMany((orm, $: { pageId: string }) =>
  orm
    .select()
    .from(subscriberCounts)
    .where(and(eq(subscriberCounts.pageId, $.pageId), eq(subscriberCounts.status, "active"))),
);

const isTarget = ($: { targets: string }) =>
  sql`${subscriberChoices.targetId} IN (SELECT value FROM json_each(${$.targets}))`;

/** Counts the choices of components and groups in a JSON list, up to `limit`. */
export const countChoices = selectOne((orm, $: { targets: string; limit: number }) => {
  const chosen = orm
    .select({ targetId: subscriberChoices.targetId })
    .from(subscriberChoices)
    .where(isTarget($))
    .limit($.limit)
    .as("chosen");
  return orm.select({ count: sql<number>`count(*)` }).from(chosen);
});

/** Counts the active subscribers who chose a kind of event, and one of the components and groups. */
export const countChosen = selectOne((orm, $: { targets: string; choice: string }) =>
  orm
    .select({ count: sql<number>`count(DISTINCT ${subscribers.id})` })
    .from(subscriberChoices)
    .innerJoin(subscribers, eq(subscribers.id, subscriberChoices.subscriberId))
    .where(
      and(
        isTarget($),
        eq(subscribers.status, "active"),
        eq(subscribers.scope, "selection"),
        sql`instr(${subscribers.events}, ${$.choice}) > 0`,
      ),
    ),
);

/**
 * Lists the next active subscribers of a page by number. `targets` is a JSON list of the components and groups
 * that a mailing reaches.
 */
export const listCandidates = selectMany(
  (
    orm,
    $: {
      pageId: string;
      after: number;
      until: number;
      choice: string;
      targets: string;
      limit: number;
    },
  ) =>
    orm
      .select({
        seq: subscribers.seq,
        isIncluded: sql<number>`${subscribers.address} IS NOT NULL AND ${isIncluded($)}`,
      })
      .from(subscribers)
      .where(
        and(
          eq(subscribers.pageId, $.pageId),
          sql`${subscribers.status} = 'active'`,
          gt(subscribers.seq, $.after),
          sql`${subscribers.seq} <= ${$.until}`,
        ),
      )
      .orderBy(asc(subscribers.seq))
      .limit($.limit),
);

export const findSubscriber = selectOne((orm, $: { id: string }) =>
  orm.select().from(subscribers).where(eq(subscribers.id, $.id)),
);

/** Finds one of the components and groups in a JSON list that a subscriber chose. */
export const findChoice = selectOne((orm, $: { subscriberId: string; targets: string }) =>
  orm
    .select({ targetId: subscriberChoices.targetId })
    .from(subscriberChoices)
    .where(
      sql`${subscriberChoices.subscriberId} = ${$.subscriberId}
        AND ${subscriberChoices.targetId} IN (SELECT value FROM json_each(${$.targets}))`,
    )
    .limit(1),
);

/** Lists a subscriber's superseded mails about a subject. */
export const listSuperseded = selectMany((orm, $: { subscriberId: string; subjectId: string }) =>
  orm
    .select({ id: mails.id, mailingId: mails.mailingId, supersededBy: mails.supersededBy })
    .from(mails)
    .where(
      and(
        eq(mails.subscriberId, $.subscriberId),
        eq(mails.subjectId, $.subjectId),
        eq(mails.status, "superseded"),
      ),
    ),
);

/** Lists the mails of a mailing to a subscriber: the first, and those that were sent again. */
export const listCopies = selectMany(
  (orm, $: { mailingId: string | null; subscriberId: string | null }) =>
    orm
      .select({ id: mails.id })
      .from(mails)
      .where(
        sql`${mails.mailingId} = ${$.mailingId} AND ${mails.subscriberId} = ${$.subscriberId}`,
      ),
);
