import { insertAllInto, insertInto } from "../../src/db/statements";
import { mailings, mails, suppressions } from "../../src/db/tables/mail";
import { MAIL_HOLDS_SETTING, type MailHold } from "../../src/base/mail-address";
import { listIncidents } from "../../src/features/incidents/records";
import { putSetting } from "../../src/features/settings/store";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";
import type { DemoPage } from "../../src/demo/year";
import type { TestApp } from "./app";
import { mailingRow, mailRow } from "./mail-rows";

export interface DemoMailings {
  /** Mailing with failed mails, and one that waits for its window. */
  failed: string;
  waiting: string;
  /** Start of a hold that has ended, with suppressions that can be undone (unix ms). */
  hold: number;
}

const insertMailing = insertInto(mailings);
const insertMails = insertAllInto(mails);
const insertSuppressions = insertAllInto(suppressions);

const NONE = { sent: 0, bounced: 0, failed: 0, superseded: 0 };
const RECIPIENTS = ["anna@northwind.example", "support@contoso.example", "ops@fabrikam.example"];
const REPLY = "550 5.1.1 The email account that you tried to reach does not exist";

/** Adds mailings about the newest incidents, without subscribers, so that nothing is sent. */
export async function addMailings(
  { ctx }: TestApp,
  now: number,
  { shop }: { shop: DemoPage },
): Promise<DemoMailings> {
  const subjects = listIncidents(ctx.db, { pageId: shop.row.id, limit: 3 }).map(
    ({ row }) => row.id,
  );
  const holdAt = now - 2 * DAY_MS;
  const plans = [
    { kind: "incident.created", ago: 2 * DAY_MS, sent: 3_061, bounced: 36, failed: 3 },
    { kind: "incident.resolved", ago: 47 * HOUR_MS, sent: 2_890, superseded: 210 },
    { kind: "incident.created", ago: 3 * HOUR_MS, sent: 3_100 },
    { kind: "incident.updated", ago: MINUTE_MS, state: "expanding", cursor: -1 },
  ] as const;
  return ctx.db.write((tx) => {
    const ids = plans.map(({ ago, ...rest }, index) => {
      const id = ctx.newId("mlg");
      const { sent, bounced, failed, superseded } = { ...NONE, ...rest };
      const row = mailingRow({
        id,
        pageId: shop.row.id,
        subjectId: subjects[index > 1 ? 0 : 1] ?? "",
        cursor: 9,
        maxSeq: 9,
        beginAt: Math.max(now + MINUTE_MS, now - ago),
        written: sent + bounced + failed + superseded,
        createdAt: now - ago,
        ...rest,
      });
      insertMailing(tx, row);
      return id;
    });
    const [failed = "", , , waiting = ""] = ids;
    const rows = RECIPIENTS.map((recipient, index) =>
      mailRow({
        id: ctx.newId("eml"),
        mailingId: failed,
        subscriberId: null,
        copy: index,
        recipient,
        subjectId: subjects[1] ?? "",
        status: "bounced",
        reply: REPLY,
        createdAt: holdAt,
      }),
    );
    insertMails(tx, rows);
    insertSuppressions(
      tx,
      rows.map(({ id }) => ({
        addressHmac: id,
        pageId: "",
        reason: "bounced" as const,
        mailId: id,
        note: REPLY,
        at: holdAt,
      })),
    );
    const hold: MailHold = {
      reason: "failures",
      at: holdAt,
      since: holdAt - MINUTE_MS,
      endedAt: holdAt + HOUR_MS,
    };
    putSetting(tx, { name: MAIL_HOLDS_SETTING, value: [hold], now });
    return { failed, waiting, hold: holdAt };
  });
}
