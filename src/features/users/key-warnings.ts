import { and, asc, eq, gt, isNull, lte, sql } from "drizzle-orm";
import type { Actor } from "../../base/actor";
import { DAY_MS } from "../../base/time";
import type { Ctx } from "../../context";
import {
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  type Tx,
} from "../../db/statements";
import { apiKeys } from "../../db/tables/keys";
import { mailWarnings } from "../../db/tables/mail";
import { users } from "../../db/tables/users";
import { audit } from "../../events/audit";
import { listMailsTo, mailUser } from "./mails";
import { isLive, WARNING_DAYS, warningStep } from "./rules";
import { findUser, type UserRow } from "./store";
import { changeUser, getUserRow } from "./users";

/** Time after which warnings are forgotten. Their keys have expired by then. */
const KEPT_MS = 60 * DAY_MS;
/** Keys that are read: more than one mail lists. */
const KEYS_MAX = 1_000;

/** Mail about expiring keys, with the step of each: 14 or 3 days. */
interface KeyWarning {
  user: UserRow;
  keys: { id: string; step: number }[];
}

/**
 * Returns the mails about expiring keys that are due now, to creators, else to the owners. A user gets at most
 * one a day, so it also names the keys that would be due within a day.
 */
export function dueKeyWarnings(ctx: Ctx, reader: Reader): KeyWarning[] {
  const now = ctx.clock.now();
  const until = now + (Math.max(...WARNING_DAYS) + 1) * DAY_MS;
  const rows = listExpiringKeyRows(reader, { now, until, limit: KEYS_MAX });
  if (rows.length === 0) return [];
  const owners = listLiveOwners(reader, {});
  const warnings = new Map<string, KeyWarning & { isDue: boolean }>();
  for (const row of rows) {
    const recipients = recipientsOf(reader, row, owners);
    const before = listKeyWarnings(reader, { keyId: row.id });
    for (const user of recipients) {
      // A warning to someone who is no recipient any more counts as well.
      const steps = before
        .filter(({ recipient }) => !recipients.some(({ id }) => id !== user.id && id === recipient))
        .map(({ step }) => step);
      const isNew = (step: number | undefined) => step !== undefined && step < Math.min(...steps);
      const step = warningStep(row, now + DAY_MS);
      if (step === undefined || !isNew(step)) continue;
      const warning = warnings.get(user.id) ?? { user, keys: [], isDue: false };
      warning.keys.push({ id: row.id, step });
      warning.isDue ||= isNew(warningStep(row, now));
      warnings.set(user.id, warning);
    }
  }
  const since = now - DAY_MS;
  return [...warnings.values()].filter(
    ({ user, isDue }) =>
      isDue &&
      user.warnsOfKeys &&
      listMailsTo(reader, user.id, "expiring_keys", { since, limit: 1 }).length === 0,
  );
}

/** Queues the mails about expiring keys that are due now. */
export function warnOfKeys(ctx: Ctx, tx: Tx): void {
  const at = ctx.clock.now();
  for (const { user, keys } of dueKeyWarnings(ctx, tx)) {
    const params = { keys: keys.map(({ id }) => id) };
    if (!mailUser(ctx, tx, user, { template: "expiring_keys", params })) continue;
    for (const { id, step } of keys) {
      insertKeyWarning(tx, { subject: id, step, recipient: user.id, at });
    }
  }
}

function recipientsOf(
  reader: Reader,
  { createdByKind, createdById }: ExpiringKeyRow,
  owners: readonly UserRow[],
): readonly UserRow[] {
  const creator =
    createdByKind === "user" ? findUser(reader, { id: createdById ?? "" }) : undefined;
  return creator && isLive(creator) ? [creator] : owners;
}

/** Returns those of the keys that still work at `now`, the next to expire first. */
export function readWarnedKeys(
  reader: Reader,
  ids: readonly string[],
  now: number,
): { name: string; expiresAt: number; createdById: string | null }[] {
  return ids.flatMap((id) => {
    const { name, expiresAt, revokedAt, createdById } = findKeyRow(reader, { id }) ?? {};
    if (name === undefined || expiresAt == null || revokedAt !== null || expiresAt <= now)
      return [];
    return [{ name, expiresAt, createdById: createdById ?? null }];
  });
}

/** Deletes warnings of long ago. */
export function sweepKeyWarnings(tx: Tx, now: number): void {
  deleteKeyWarningsBefore(tx, { until: now - KEPT_MS });
}

/** Returns which mails a user gets. Throws `not_found`. */
export function readPreferences(reader: Reader, id: string): { key_warnings: boolean } {
  return { key_warnings: getUserRow(reader, id).warnsOfKeys };
}

/** Lets a user get a mail before API keys expire, or not. Throws `not_found`. */
export function setKeyWarnings(ctx: Ctx, tx: Tx, id: string, isOn: boolean, actor: Actor): void {
  const before = getUserRow(tx, id);
  if (before.warnsOfKeys === isOn) return;
  changeUser(ctx, tx, before, { warnsOfKeys: isOn });
  const summary = `Turned mails about expiring keys ${isOn ? "on" : "off"} for “${before.name}”`;
  audit(ctx, tx, actor, "user.key_warnings", id, summary);
}

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
const listExpiringKeyRows = selectMany((orm, $: { now: number; until: number; limit: number }) =>
  orm
    .select(COLUMNS)
    .from(apiKeys)
    .where(
      and(isNull(apiKeys.revokedAt), gt(apiKeys.expiresAt, $.now), lte(apiKeys.expiresAt, $.until)),
    )
    .orderBy(asc(apiKeys.expiresAt), asc(apiKeys.id))
    .limit($.limit),
);

type ExpiringKeyRow = ReturnType<typeof listExpiringKeyRows>[number];

const findKeyRow = selectOne((orm, $: { id: string }) =>
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
const listLiveOwners = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(users)
    .where(and(eq(users.role, "owner"), isNull(users.disabledAt), isNull(users.deletedAt)))
    .orderBy(asc(users.id)),
);

const insertKeyWarning = insertInto(mailWarnings);

/** Lists the warnings about a key that were queued. */
const listKeyWarnings = selectMany((orm, $: { keyId: string }) =>
  orm
    .select({ step: mailWarnings.step, recipient: mailWarnings.recipient })
    .from(mailWarnings)
    .where(eq(mailWarnings.subject, $.keyId)),
);

/** Deletes the warnings about keys until `until` (unix ms). */
const deleteKeyWarningsBefore = mutate((orm, $: { until: number }) =>
  orm
    .delete(mailWarnings)
    .where(and(sql`substr(${mailWarnings.subject}, 1, 4) = 'key_'`, lte(mailWarnings.at, $.until))),
);
