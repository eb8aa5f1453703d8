import type { Database } from "bun:sqlite";
import { MAIL_HOLDS_SETTING, type MailHold } from "../domain/mail";
import type { Rule } from "./credential-tables";

/** SQL condition: a subscriber of the backup was erased since. One of another page can have the same address. */
const IS_ERASED = `NOT EXISTS (SELECT 1 FROM replaced.subscribers AS o WHERE o.id = r.id)
  AND EXISTS (SELECT 1 FROM replaced.suppressions AS o
    WHERE o.address_hmac = r.address_hmac AND o.reason = 'erased' AND o.at >= r.updated_at)`;

/** Mails that answered sign-ups of addresses which were erased later, found by the index of their subjects. */
const ANSWERS_TO_ERASED = `replaced.suppressions AS o CROSS JOIN main.mails AS m
    ON m.subject_id = 'signup_' || o.address_hmac AND m.mailing_id IS NULL
  WHERE o.reason = 'erased' AND o.at >= m.created_at`;

/** Rules that keep a restored database from mailing people who unsubscribed. */
export const MAIL_RULES: readonly Rule[] = [
  {
    table: "subscribers",
    alsoReads: "suppressions",
    sql: `DELETE FROM main.mail_requests WHERE (page_id, address_key) IN (
      SELECT r.page_id, r.address_key FROM main.subscribers AS r WHERE ${IS_ERASED})`,
  },
  {
    table: "subscribers",
    alsoReads: "suppressions",
    sql: `DELETE FROM main.mail_reports WHERE mail_id IN (
      SELECT m.id FROM main.mails AS m, main.subscribers AS r
      WHERE m.subscriber_id = r.id AND ${IS_ERASED})`,
  },
  {
    // With choices and mails, by their foreign keys.
    what: "erased subscriber",
    table: "subscribers",
    alsoReads: "suppressions",
    sql: `DELETE FROM main.subscribers AS r WHERE ${IS_ERASED}`,
  },
  {
    // Sign-ups and their mails contain the address as well. A sign-up has no mark of its own.
    table: "suppressions",
    sql: `DELETE FROM main.mail_requests WHERE id IN (
      SELECT json_extract(m.params, '$.request') FROM ${ANSWERS_TO_ERASED})`,
  },
  {
    table: "suppressions",
    sql: `DELETE FROM main.mails WHERE id IN (SELECT m.id FROM ${ANSWERS_TO_ERASED})`,
  },
  {
    // A mark finds no address in a text, so that all unmatched reports from before the last erasure are deleted.
    table: "suppressions",
    sql: `DELETE FROM main.mail_reports WHERE mail_id IS NULL
      AND at <= (SELECT max(at) FROM replaced.suppressions WHERE reason = 'erased')`,
  },
  {
    // Links to manage a subscription that were made invalid stay so.
    table: "subscribers",
    sql: `UPDATE main.subscribers AS r SET token_version = o.token_version
      FROM replaced.subscribers AS o WHERE o.id = r.id AND o.token_version > r.token_version`,
  },
  {
    what: "ended subscription",
    table: "subscribers",
    sql: `UPDATE main.subscribers AS r
      SET status = 'unsubscribed', unsubscribed_at = o.unsubscribed_at, version = max(r.version, o.version) + 1
      FROM replaced.subscribers AS o
      WHERE o.id = r.id AND o.status = 'unsubscribed' AND r.status = 'active' AND (o.version > r.version OR o.updated_at > r.updated_at)`,
  },
  {
    what: "suppression",
    table: "suppressions",
    sql: `INSERT OR IGNORE INTO main.suppressions (address_hmac, page_id, reason, mail_id, note, at)
      SELECT address_hmac, page_id, reason, mail_id, note, at FROM replaced.suppressions`,
  },
  {
    // Without the key by which their addresses are marked, suppressions would stop nothing.
    table: "settings",
    sql: `INSERT OR IGNORE INTO main.settings (name, value, updated_at)
      SELECT name, value, updated_at FROM replaced.settings WHERE name = 'mail_key'`,
  },
  {
    what: "revoked report token",
    table: "settings",
    sql: `DELETE FROM main.settings AS r WHERE r.name = 'mail_report_token'
      AND NOT EXISTS (SELECT 1 FROM replaced.settings AS o WHERE o.name = r.name AND o.value = r.value)`,
  },
  {
    // Suppressions are found by the key, which a backup from before the first mail does not have.
    table: "settings",
    sql: `INSERT OR IGNORE INTO main.settings (name, value, updated_at)
      SELECT name, value, updated_at FROM replaced.settings WHERE name IN ('mail_report_token', 'mail_key')`,
  },
];

/** True if mailings of the replaced database are held since an earlier restore could not read who left. */
export function isHeldSinceRestore(sqlite: Database): boolean {
  return readHolds(sqlite, "replaced").some(isOfRestore);
}

function isOfRestore({ reason, endedAt }: MailHold): boolean {
  return reason === "restore" && endedAt === null;
}

function readHolds(sqlite: Database, schema: "main" | "replaced"): MailHold[] {
  const stored = sqlite
    .prepare<{ value: string }, [string]>(`SELECT value FROM ${schema}.settings WHERE name = ?`)
    .get(MAIL_HOLDS_SETTING);
  return stored ? (JSON.parse(stored.value) as MailHold[]) : [];
}

/** Holds all mailings of the restored database from `now` (unix ms) until an admin goes on. */
export function holdMailings(sqlite: Database, now: number): void {
  const holds = readHolds(sqlite, "main");
  if (holds.some(isOfRestore)) return;
  // One with another reason ends, since this is the reason that an admin has to know.
  const ended = holds.map((each) => ({ ...each, endedAt: each.endedAt ?? now }));
  const hold: MailHold = { reason: "restore", at: now, since: now, endedAt: null };
  sqlite
    .prepare("INSERT OR REPLACE INTO main.settings (name, value, updated_at) VALUES (?, ?, ?)")
    .run(MAIL_HOLDS_SETTING, JSON.stringify([...ended, hold]), now);
}
