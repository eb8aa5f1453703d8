/*
 * Mails of monthly reports, in English like all mails to the team. Each is computed when it is written.
 */
import { runInSlices } from "../../base/in-slices";
import { percent } from "../../base/numbers";
import { plural } from "../../base/text";
import type { Ctx } from "../../context";
import { composeMail, type MailTemplate, type Templates } from "../mail/compose";
import {
  type Block,
  button,
  type ComponentEntry,
  heading,
  link,
  muted,
  ownLetter,
  paragraph,
  renderLetter,
  title,
} from "../mail/letter";
import { findPage, type PageRow } from "../pages/store";
import { duration } from "../webhooks/formats/notification";
import { listRecipients, REPORT_TEMPLATE } from "./mails";
import { findReportMonth, type Report, reportSteps } from "./report";

const reportMail: MailTemplate = async (mail, env) => {
  const { ctx, settings } = env;
  const now = ctx.clock.now();
  const page = findPage(ctx.db, { id: mail.subjectId });
  const recipient = listRecipients(ctx.db, mail.subjectId).find(
    ({ address }) => address.address === mail.recipient,
  );
  const month = page && findReportMonth(ctx.db, page, String(mail.params["month"]), now);
  if (!page || page.report === "off" || !recipient || !month) return "unwanted";
  const report = await runInSlices(reportSteps(ctx.db, page, month, now));
  const at = monthWords(month.name);
  const letter = ownLetter({
    preheader: summaryOf(report),
    blocks: blocksOf(ctx, page, report),
    footer: [
      muted(
        "You get this mail because a webhook sends messages about incidents of the page to this address.",
      ),
      link("Open the webhook", `${ctx.baseUrl}/admin/settings/webhooks/${recipient.webhookId}`),
    ],
  });
  return composeMail(mail, env, {
    fromName: settings.from.name ?? letter.sender,
    subject: `Report of ${page.name}, ${at}`,
    ...renderLetter({ ...letter, sender: page.name }),
  });
};

/** Templates of monthly reports. */
export const REPORT_TEMPLATES: Templates = { [REPORT_TEMPLATE]: reportMail };

/** Returns a month as text: "November 2026". */
function monthWords(name: string): string {
  return new Date(`${name}-01`).toLocaleDateString("en-GB", {
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}

/** Returns a report in a sentence: "99.98 % uptime, 2 incidents, all goals met". */
function summaryOf(report: Report): string {
  const { total, components } = report;
  const uptime = total.uptime === null ? "No data" : `${percent(total.uptime, 2)} uptime`;
  const goals = components.filter(({ isMet }) => isMet !== null);
  const missed = goals.filter(({ isMet }) => isMet === false).length;
  return [
    uptime,
    countIncidents(report),
    ...(goals.length === 0
      ? []
      : [missed === 0 ? "all goals met" : `${plural(missed, "goal")} missed`]),
  ].join(", ");
}

/** Returns the number of incidents: "2 incidents", or "200+ incidents" if the report left older ones out. */
function countIncidents({ isTruncated, incidents: { length } }: Report): string {
  return isTruncated.incident ? `${length}+ incidents` : plural(length, "incident");
}

/** The same of maintenance. */
function countMaintenance({ isTruncated, maintenance: { length } }: Report): string {
  return isTruncated.maintenance ? `${length}+ maintenances` : plural(length, "maintenance");
}

/** Share of time without data that a mail names at least. */
const NO_DATA_MIN = 0.0001;
/** Incidents that a mail names; the report has all. */
const NAMED_MAX = 10;

function blocksOf({ baseUrl }: Ctx, page: PageRow, report: Report): Block[] {
  const { month, total, incidents, isTruncated } = report;
  const path = new URLSearchParams({ page: page.slug, month: month.name }).toString();
  const whole = total.counted_ms + total.maintenance_ms + total.no_data_ms;
  const noData = whole === 0 ? 0 : total.no_data_ms / whole;
  const facts = [
    `${countIncidents(report)} and ${countMaintenance(report)}.`,
    ...(noData >= NO_DATA_MIN ? [`No data for ${percent(noData, 2)} of the time.`] : []),
  ];
  return [
    title({ name: page.name }, `, ${monthWords(month.name)}`),
    paragraph(
      `Uptime of all components: ${total.uptime === null ? "no data" : percent(total.uptime, 3)}. ${facts.join(" ")}`,
    ),
    heading("Uptime"),
    { type: "components", entries: entriesOf(report) },
    ...(incidents.length === 0 ? [] : [heading("Incidents")]),
    ...incidents
      .slice(0, NAMED_MAX)
      .map(({ name, lasted }) => paragraph({ name }, `: ${duration(lasted)} in this month`)),
    ...(incidents.length > NAMED_MAX
      ? [
          muted(
            `And ${isTruncated.incident ? "at least " : ""}${incidents.length - NAMED_MAX} more.`,
          ),
        ]
      : []),
    button("Open the report", `${baseUrl}/admin/analytics/report?${path}`),
  ];
}

/** Returns the components with those that missed their goal first, then in the order of the page. */
function entriesOf({ components }: Report): ComponentEntry[] {
  return components
    .toSorted((a, b) => Number(b.isMet === false) - Number(a.isMet === false))
    .map(({ row: { name, uptimeGoal }, figures: { uptime }, isMet }) => ({
      name,
      status:
        uptime === null
          ? "No data"
          : `${percent(uptime, 3)}${isMet === false ? ` (goal ${uptimeGoal} %)` : ""}`,
      tone: isMet === null ? "none" : isMet ? "ok" : "partial",
    }));
}
