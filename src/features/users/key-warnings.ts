/*
 * Mails before API keys expire: which are due, and to whom.
 */
import { DAY_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { listMailsTo, mailUser } from "./mails";
import { isLive, WARNING_DAYS, warningStep } from "./rules";
import {
  deleteKeyWarningsBefore,
  type ExpiringKeyRow,
  findUser,
  findWarnedKey,
  insertKeyWarning,
  listExpiringKeyRows,
  listKeyWarnings,
  listLiveOwners,
  type UserRow,
} from "./store";

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
    const before = listKeyWarnings(reader, { subject: row.id });
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
    const { name, expiresAt, revokedAt, createdById } = findWarnedKey(reader, { id }) ?? {};
    if (name === undefined || expiresAt == null || revokedAt !== null || expiresAt <= now)
      return [];
    return [{ name, expiresAt, createdById: createdById ?? null }];
  });
}

/** Deletes warnings of long ago. */
export function sweepKeyWarnings(tx: Tx, now: number): void {
  deleteKeyWarningsBefore(tx, { until: now - KEPT_MS });
}
