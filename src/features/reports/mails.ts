/*
 * Mails of monthly reports: on the first of the month at 08:00 in the time zone of the page, to the confirmed addresses of
 * the team that get messages about incidents of the page. Their texts are in `letters.ts`.
 */
import { setImmediate } from "node:timers/promises";
import type { Timer } from "../../base/clock";
import { runInSlices } from "../../base/in-slices";
import type { MailAddress } from "../../base/mail-address";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time";
import { ANY_EVENT } from "../../base/webhook";
import { firstShown, knownZone } from "../../base/zones";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { enqueueMails } from "../mail/mail";
import { mailReadiness } from "../mail/settings";
import { findPage, listAllPages, type PageRow } from "../pages/store";
import { isOpenToEvents, parseMailto, recipientKeyOf } from "../webhooks/recipient";
import { listLiveWebhooks } from "../webhooks/store";
import { findReportMonth, monthNameAt, type Report, reportSteps } from "./report";
import { findMailedReport, insertMailedReport } from "./store";

/** Hour of the day at which reports are mailed, on the clock of the page's zone. */
const MAIL_HOUR = 8;

/** Time after the end of a month, by which its last results are written, before which no report is mailed. */
const SETTLED_MS = 5 * MINUTE_MS;

/** Time for which a report that could not be mailed is mailed later. */
const LATEST_MS = 3 * DAY_MS;

const LOOK_MS = MINUTE_MS;

export const REPORT_TEMPLATE = "monthly_report";

/**
 * Returns the time at which the report of a month (`YYYY-MM` in UTC) of a page is mailed, in unix ms: 08:00 of the first
 * day after it in the page's zone, but not before the month has ended in UTC.
 */
export function mailTimeOf(month: string, timeZone: string): number {
  const end = Date.parse(`${monthNameAt(Date.parse(`${month}-01`), 1)}-01`);
  return Math.max(firstShown(end + MAIL_HOUR * HOUR_MS, knownZone(timeZone)), end + SETTLED_MS);
}

/** Recipient of the reports of a page. */
interface Recipient {
  webhookId: string;
  address: MailAddress;
}

/** Lists the recipients of the reports of a page, each address once. */
export function listRecipients(reader: Reader, pageId: string): Recipient[] {
  const recipients = new Map<string, Recipient>();
  for (const webhook of listLiveWebhooks(reader, {})) {
    const isOfPage = webhook.pageId === null || webhook.pageId === pageId;
    if (webhook.format !== "email" || !isOfPage || !isAboutIncidents(webhook.events)) continue;
    const key = recipientKeyOf(webhook.url);
    const address = parseMailto(webhook.url);
    if ("error" in address || recipients.has(key) || !isOpenToEvents(reader, webhook)) continue;
    recipients.set(key, { webhookId: webhook.id, address });
  }
  return [...recipients.values()];
}

function isAboutIncidents(events: readonly string[]): boolean {
  return events.some((event) => event === ANY_EVENT || event.startsWith("incident."));
}

interface DueReport {
  page: PageRow;
  month: string;
}

/** Returns the pages whose report of the last month is due at `now` (unix ms) and was not mailed, with that month. */
function duePages(reader: Reader, now: number): DueReport[] {
  const month = monthNameAt(now, -1);
  // Most of the time no zone has to be asked.
  if (now > Date.parse(`${monthNameAt(now)}-01`) + DAY_MS + LATEST_MS) return [];
  return listAllPages(reader, {})
    .filter(({ isSample, report }) => !isSample && report !== "off")
    .filter(({ timeZone }) => {
      const at = mailTimeOf(month, timeZone);
      return at <= now && now < at + LATEST_MS;
    })
    .filter(({ id }) => findMailedReport(reader, { pageId: id, month }) === undefined)
    .map((page) => ({ page, month }));
}

/** Mails the reports that are due. One that fails is mailed later, and the others are mailed. */
async function mailDueReports(ctx: Ctx): Promise<void> {
  for (const due of duePages(ctx.db, ctx.clock.now())) {
    // One after the other, so that requests are answered in between.
    // oxlint-disable-next-line no-await-in-loop
    await setImmediate();
    try {
      // oxlint-disable-next-line no-await-in-loop
      await mailDueReport(ctx, due);
    } catch (error) {
      const { page, month } = due;
      ctx.log.warn(
        { err: error, page: page.id, month },
        "a monthly report could not be mailed; trying in a minute",
      );
    }
  }
}

/** Mails a report. One without a recipient is not computed. */
async function mailDueReport(ctx: Ctx, { page, month: name }: DueReport): Promise<void> {
  const now = ctx.clock.now();
  if (listRecipients(ctx.db, page.id).length === 0) return;
  const month = findReportMonth(ctx.db, page, name, now);
  if (!month) return;
  const report = await runInSlices(reportSteps(ctx.db, page, month, now));
  await ctx.db.write((tx) => mailReport(ctx, tx, page.id, report));
}

/** Queues the mails of a report, and records what was mailed. */
function mailReport(ctx: Ctx, tx: Tx, pageId: string, { month: { name }, digest }: Report): void {
  const page = findPage(tx, { id: pageId });
  if (!page || page.report === "off" || findMailedReport(tx, { pageId, month: name })) return;
  const recipients = listRecipients(tx, pageId);
  if (recipients.length === 0) return;
  const now = ctx.clock.now();
  insertMailedReport(tx, { pageId, month: name, digest, mailedAt: now });
  enqueueMails(
    ctx,
    tx,
    recipients.map(({ address }) => ({
      class: 2,
      recipient: address,
      subjectId: pageId,
      template: REPORT_TEMPLATE,
      params: { month: name },
      expiresAt: now + LATEST_MS,
    })),
  );
}

/** Mails the reports of pages at their times, looking each minute. */
export function startReportMails(ctx: Ctx): Timer {
  let isRunning = false;

  async function look(): Promise<void> {
    if (isRunning || !ctx.isPrimary() || !mailReadiness(ctx).ready) return;
    isRunning = true;
    try {
      await mailDueReports(ctx);
    } catch (error) {
      ctx.log.warn({ err: error }, "monthly reports could not be mailed; trying in a minute");
    } finally {
      isRunning = false;
    }
  }

  return ctx.clock.every(LOOK_MS, () => void look());
}
