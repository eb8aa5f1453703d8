import { type SQL, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { mailRequests, subscribers } from "../../db/tables/mail";
import type { SubscriberEvent, SubscriberScope } from "../../base/mail-address";

/** Query for a part of a list. Empty texts and null stand for no filter. */
export interface PartQuery {
  pageId: string;
  /** Part of the address in lower case: its beginning if it has fewer than three characters. */
  text: string;
  /** Chosen component, and the group that it is in. */
  target: string;
  group: string;
  status: "active" | "unsubscribed" | null;
  /** Number of entries that are looked at, and of those that are returned. */
  examined: number;
  limit: number;
}

/** Columns of a listed subscriber, from `s`. */
const SHOWN = {
  id: sql<string>`s.id`,
  seq: sql<number>`s.seq`,
  address: sql<string | null>`s.address`,
  scope: sql<SubscriberScope>`s.scope`,
  events: sql`s.events`.mapWith(subscribers.events) as SQL<SubscriberEvent[]>,
  language: sql<string | null>`s.language`,
  status: sql<"active" | "unsubscribed">`s.status`,
  confirmedAt: sql<number>`s.confirmed_at`,
  unsubscribedAt: sql<number | null>`s.unsubscribed_at`,
  /** Number of chosen components and groups. */
  choices: sql<number>`(SELECT count(*) FROM subscriber_choices WHERE subscriber_id = s.id)`,
  /** Reasons of the suppressions of the address, with commas between them. */
  reasons: sql<string | null>`(SELECT group_concat(reason) FROM suppressions
    WHERE address_hmac = s.address_hmac AND page_id IN ('', s.page_id))`,
};

const hasText = (address: SQL, $: PartQuery) =>
  sql`(${$.text} = '' OR CASE WHEN length(${$.text}) < 3 THEN instr(${address}, ${$.text}) = 1
    ELSE instr(${address}, ${$.text}) > 0 END)`;

/** Condition of the filters, for rows of `s`. */
const matches = ($: PartQuery) =>
  sql`s.page_id = ${$.pageId} AND (${$.status} IS NULL OR s.status = ${$.status})
    AND ${hasText(sql`s.address_key`, $)}
    AND (${$.target} = '' OR EXISTS (SELECT 1 FROM subscriber_choices
      WHERE subscriber_id = s.id AND target_id IN (${$.target}, ${$.group})))`;

/** Declares a query for the listed subscribers in a source, which names them `s`. */
const listFrom = <More>(source: ($: PartQuery & More) => SQL) =>
  selectMany((orm, $: PartQuery & More) =>
    orm.select(SHOWN).from(source($)).where(matches($)).limit($.limit),
  );

// Each list reads its entries in the order of an index and stops after `examined` of them, so that no
// combination of filters reads a whole large table.

/** Lists active subscribers below a number. */
export const listActive = listFrom<{ before: number }>(
  ($) => sql`(SELECT * FROM subscribers WHERE page_id = ${$.pageId} AND status = 'active'
        AND seq < ${$.before} ORDER BY seq DESC LIMIT ${$.examined}) AS s`,
);

/** Lists subscribers whose subscription has ended, below an id. */
export const listEnded = listFrom<{ before: string }>(
  ($) => sql`(SELECT * FROM subscribers WHERE page_id = ${$.pageId} AND status = 'unsubscribed'
        AND id < ${$.before} ORDER BY id DESC LIMIT ${$.examined}) AS s`,
);

/** Lists subscribers below a number whose addresses have all parts of three characters of a text. */
export const listWithParts = listFrom<{ parts: string; before: number }>(
  ($) => sql`(SELECT rowid AS number FROM subscriber_search WHERE subscriber_search MATCH ${$.parts}
        AND rowid < ${$.before} ORDER BY rowid DESC LIMIT ${$.examined}) AS found
        CROSS JOIN subscribers AS s ON s.seq = found.number`,
);

/** Finds the number at which the search of `listWithParts` ended; undefined if it looked at all. */
export const findEndOfParts = selectOne(
  (orm, $: { parts: string; before: number; skipped: number }) =>
    orm
      .select({ key: sql<number>`rowid` })
      .from(sql`subscriber_search`)
      .where(sql`subscriber_search MATCH ${$.parts} AND rowid < ${$.before}`)
      .orderBy(sql`rowid DESC`)
      .limit(1)
      .offset($.skipped),
);

/** Lists subscribers whose addresses are above one, by address, up to a text. */
export const listByAddress = listFrom<{ after: string; until: string }>(
  ($) => sql`(SELECT * FROM subscribers WHERE page_id = ${$.pageId} AND address_key > ${$.after}
          AND address_key < ${$.until} ORDER BY address_key LIMIT ${$.examined}) AS s`,
);

/** Finds the id of the subscriber at which `listByAddress` ended; undefined if it looked at all. */
export const findEndByAddress = selectOne(
  (orm, $: { pageId: string; after: string; until: string; skipped: number }) =>
    orm
      .select({ key: subscribers.id })
      .from(subscribers)
      .where(
        sql`${subscribers.pageId} = ${$.pageId} AND ${subscribers.addressKey} > ${$.after}
          AND ${subscribers.addressKey} < ${$.until}`,
      )
      .orderBy(subscribers.addressKey)
      .limit(1)
      .offset($.skipped),
);

/** Lists subscribers below an id who chose a component or group. */
export const listByChoice = listFrom<{ chosen: string; before: string }>(
  ($) => sql`(SELECT subscriber_id FROM subscriber_choices WHERE target_id = ${$.chosen}
          AND subscriber_id < ${$.before} ORDER BY subscriber_id DESC LIMIT ${$.examined}) AS found
          CROSS JOIN subscribers AS s ON s.id = found.subscriber_id`,
);

/** Finds the subscriber at which `listByChoice` ended; undefined if it looked at all. */
export const findEndByChoice = selectOne(
  (orm, $: { chosen: string; before: string; skipped: number }) =>
    orm
      .select({ key: sql<string>`subscriber_id` })
      .from(sql`subscriber_choices`)
      .where(sql`target_id = ${$.chosen} AND subscriber_id < ${$.before}`)
      .orderBy(sql`subscriber_id DESC`)
      .limit(1)
      .offset($.skipped),
);

/** Position in the list of suppressed subscribers. */
export interface SuppressedKey {
  at: number;
  mark: string;
}

const beforeKey = ($: { reason: string; at: number; mark: string }) =>
  sql`reason = ${$.reason} AND (at, address_hmac) < (${$.at}, ${$.mark})`;

/** Lists subscribers whose addresses are suppressed for a reason, newest suppression first. */
export const listSuppressed = selectMany((orm, $: PartQuery & SuppressedKey & { reason: string }) =>
  orm
    .select({ ...SHOWN, at: sql<number>`found.at`, mark: sql<string>`found.address_hmac` })
    .from(
      sql`(SELECT at, address_hmac FROM suppressions WHERE ${beforeKey($)}
          ORDER BY at DESC, address_hmac DESC LIMIT ${$.examined}) AS found
          CROSS JOIN subscribers AS s ON s.address_hmac = found.address_hmac`,
    )
    .where(matches($))
    .limit($.limit),
);

/** Finds the suppression at which `listSuppressed` ended; undefined if it looked at all. */
export const findEndOfSuppressed = selectOne(
  (orm, $: SuppressedKey & { reason: string; skipped: number }) =>
    orm
      .select({ at: sql<number>`at`, mark: sql<string>`address_hmac` })
      .from(sql`suppressions`)
      .where(beforeKey($))
      .orderBy(sql`at DESC, address_hmac DESC`)
      .limit(1)
      .offset($.skipped),
);

/** Counts the active subscribers of a page among the newest suppressions for a reason. */
export const countSuppressedOfPage = selectOne(
  (orm, $: { pageId: string; reason: string; examined: number }) =>
    orm
      .select({
        examined: sql<number>`count(*)`,
        count: sql<number>`coalesce(sum(EXISTS (SELECT 1 FROM subscribers
          WHERE address_hmac = found.address_hmac AND page_id = ${$.pageId} AND status = 'active')), 0)`,
      })
      .from(
        sql`(SELECT address_hmac FROM suppressions WHERE reason = ${$.reason}
          ORDER BY at DESC LIMIT ${$.examined}) AS found`,
      ),
);

// The same text as in the condition of the partial index, so that SQLite uses it.
const isOpen = sql`state IN ('waiting', 'sent')`;

/** Lists sign-ups of a page below an id that can be confirmed, newest first. */
export const listUnconfirmed = selectMany((orm, $: PartQuery & { before: string; now: number }) =>
  orm
    .select({
      id: sql<string>`r.id`,
      address: sql<string>`r.address`,
      choices: sql`r.choices`.mapWith(mailRequests.choices) as SQL<
        typeof mailRequests.$inferSelect.choices
      >,
      source: sql<typeof mailRequests.$inferSelect.source>`r.source`,
      requestedAt: sql<number>`r.requested_at`,
      expiresAt: sql<number>`r.expires_at`,
    })
    .from(
      sql`(SELECT * FROM mail_requests WHERE page_id = ${$.pageId} AND ${isOpen}
          AND id < ${$.before} ORDER BY id DESC LIMIT ${$.examined}) AS r`,
    )
    .where(
      sql`r.expires_at > ${$.now} AND ${hasText(sql`r.address_key`, $)}
          AND (${$.target} = '' OR EXISTS (SELECT 1 FROM json_each(r.choices, '$.targets')
            WHERE value IN (${$.target}, ${$.group})))`,
    )
    .limit($.limit),
);

/** Finds the sign-up at which `listUnconfirmed` ended; undefined if it looked at all. */
export const findEndOfUnconfirmed = selectOne(
  (orm, $: { pageId: string; before: string; skipped: number }) =>
    orm
      .select({ key: mailRequests.id })
      .from(mailRequests)
      .where(sql`${mailRequests.pageId} = ${$.pageId} AND ${isOpen} AND id < ${$.before}`)
      .orderBy(sql`id DESC`)
      .limit(1)
      .offset($.skipped),
);

/** Counts the sign-ups of a page that can be confirmed, up to a limit. */
export const countUnconfirmed = selectOne((orm, $: { pageId: string; limit: number }) =>
  orm
    .select({ count: sql<number>`count(*)` })
    .from(
      sql`(SELECT 1 FROM mail_requests WHERE page_id = ${$.pageId} AND ${isOpen} LIMIT ${$.limit})`,
    ),
);
