import { and, asc, desc, eq, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { findBy, listBy, setBy } from "../../db/rows";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db/statements";
import { components } from "../../db/tables/components";
import { mails } from "../../db/tables/mail";
import { users } from "../../db/tables/users";
import { webhookPauses, webhooks } from "../../db/tables/webhooks";

export type WebhookRow = typeof webhooks.$inferSelect;

export const insertWebhook = insertInto(webhooks);
export const updateWebhookRow = updateById(webhooks);

const isStored = isNull(webhooks.deletedAt);

export const findWebhook = findBy(webhooks, ["id"], { where: isStored });

export const findWebhookByRef = findBy(webhooks, ["ref"], { where: isStored });

/** Lists endpoints with ids below `before`, newest first. */
export const listWebhooksBefore = selectMany((orm, $: { before: string; limit: number }) =>
  orm
    .select()
    .from(webhooks)
    .where(and(lt(webhooks.id, $.before), isNull(webhooks.deletedAt)))
    .orderBy(desc(webhooks.id))
    .limit($.limit),
);

/** Lists all endpoints, oldest first. */
export const listAllWebhooks = listBy(webhooks, [], {
  where: isStored,
  order: [asc(webhooks.id)],
});

const isLive = sql`${webhooks.enabled} AND ${webhooks.deletedAt} IS NULL`;

/**
 * Lists enabled endpoints, oldest first, with the columns that decide which events they receive.
 */
export const listLiveWebhooks = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({
      id: webhooks.id,
      pageId: webhooks.pageId,
      events: webhooks.events,
      monitors: webhooks.monitors,
      format: webhooks.format,
      settings: webhooks.settings,
      url: webhooks.url,
      confirmedAt: webhooks.confirmedAt,
    })
    .from(webhooks)
    .where(isLive)
    .orderBy(asc(webhooks.id)),
);

/** Finds the destination of an endpoint if it is enabled. */
export const findLiveWebhook = selectOne((orm, $: { id: string }) =>
  orm
    .select({ format: webhooks.format, url: webhooks.url, settings: webhooks.settings })
    .from(webhooks)
    .where(sql`${webhooks.id} = ${$.id} AND ${isLive}`),
);

/** Finds the status of a component. */
export const findShownStatus = selectOne((orm, $: { id: string }) =>
  orm
    .select({ status: components.status })
    .from(components)
    .where(and(eq(components.id, $.id), isNull(components.deletedAt))),
);

/** Writes the start of the time in which all attempts failed (unix ms); null after a success. */
export const setFailingSince = setBy(webhooks, ["id"], ["failingSince"]);

/** Finds the end of the last recorded pause of a destination (unix ms). */
export const findPause = selectOne((orm, $: { destination: string }) =>
  orm
    .select({ until: webhookPauses.pausedUntil })
    .from(webhookPauses)
    .where(eq(webhookPauses.destination, $.destination)),
);

export const setPause = mutate((orm, $: { destination: string; until: number }) =>
  orm
    .insert(webhookPauses)
    .values({ destination: $.destination, pausedUntil: $.until })
    .onConflictDoUpdate({
      target: webhookPauses.destination,
      set: { pausedUntil: sql`excluded.paused_until` },
    }),
);

/** Deletes pauses that ended before a time (unix ms). */
export const deletePausesBefore = mutate((orm, $: { before: number }) =>
  orm.delete(webhookPauses).where(lt(webhookPauses.pausedUntil, $.before)),
);

/** Finds an enabled user by canonical email. */
export const findEnabledUserByEmail = selectOne((orm, $: { email: string }) =>
  orm
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.email, $.email), isNull(users.disabledAt), isNull(users.deletedAt))),
);

/** Lists endpoints for e-mail, oldest first. */
export const listMailWebhooks = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.format, "email"), isNull(webhooks.deletedAt)))
    .orderBy(asc(webhooks.id)),
);

/** Lists the URLs of endpoints for e-mail whose recipients confirmed. */
export const listConfirmedRecipients = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ url: webhooks.url, confirmedAt: webhooks.confirmedAt })
    .from(webhooks)
    .where(
      and(
        eq(webhooks.format, "email"),
        isNotNull(webhooks.confirmedAt),
        isNull(webhooks.deletedAt),
      ),
    ),
);

/* Mails that ask the addresses of endpoints to confirm alerts. */

/** Columns of a mail that asks an address to confirm alerts. `dueAt` is when it could be sent first (unix ms). */
const QUESTION = {
  recipient: mails.recipient,
  status: mails.status,
  reply: mails.reply,
  dueAt: sql<number>`coalesce(json_extract(${mails.params}, '$.due_at'), ${mails.createdAt})`,
  finishedAt: mails.finishedAt,
};

/** Lists the newest mails that ask addresses to confirm alerts, newest first. `subjectId` is the one of all. */
export const listQuestions = selectMany((orm, $: { subjectId: string; limit: number }) =>
  orm
    .select(QUESTION)
    .from(mails)
    .where(and(eq(mails.subjectId, $.subjectId), sql`${mails.mailingId} IS NULL`))
    .orderBy(desc(mails.id))
    .limit($.limit),
);

/** Finds the newest mail that asks an address, in lower case, to confirm alerts. */
export const findNewestQuestion = selectOne((orm, $: { subjectId: string; recipient: string }) =>
  orm
    .select(QUESTION)
    .from(mails)
    .where(
      and(
        eq(mails.subjectId, $.subjectId),
        sql`${mails.mailingId} IS NULL`,
        sql`lower(${mails.recipient}) = ${$.recipient}`,
      ),
    )
    .orderBy(desc(mails.id))
    .limit(1),
);
