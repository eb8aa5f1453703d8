import { runInSlices } from "../../../base/in-slices";
import { lazy } from "../../../base/lazy";
import { toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { MONTH_PATTERN } from "../../../public/page-context";
import { createPageTimes } from "../../../public/page-times";
import { ReportContent } from "../../../public/report";
import { EmptyState } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { choosePage } from "../../../ui/frame/page-choice";
import { componentPath, incidentPath, maintenancePath, pagePath } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { dayAt, useZone } from "../../../ui/times";
import { pageUrl } from "../../pages/addresses";
import type { PageRow } from "../../pages/store";
import { findReportMonth, monthNameAt, type Report, reportSteps } from "../../reports/report";
import { findMailedReport } from "../../reports/store";
import { METHODS } from "../wire";
import { MonthLinks, monthName } from "./calendar";
import {
  AnalyticsFrame,
  REPORT_PATH,
  type Selection,
  selectionPath,
  UPTIME_CSV_PATH,
} from "./frame";

/** `/admin/analytics/report`: the report of a month of a page. */
export function MonthlyReport({ view }: { view: ReportView }) {
  const { selection, page, report } = view;
  return (
    <AnalyticsFrame
      path={REPORT_PATH}
      selection={selection}
      hasPage
      isOnePage
      {...(report && { hidden: { month: report.month.name } })}
      actions={report ? <CsvLink {...{ selection, report }} /> : undefined}
      methods={
        report
          ? [
              { of: "uptime", method: METHODS.uptimeOfComponents },
              { of: "response times", method: METHODS.latency },
            ]
          : []
      }
    >
      {page && report ? (
        <ShownReport {...{ view, page, report }} />
      ) : (
        <EmptyState title="No status page yet">The reports of a page appear here.</EmptyState>
      )}
    </AnalyticsFrame>
  );
}

function CsvLink({ selection, report }: { selection: Selection; report: Report }) {
  const href = selectionPath(UPTIME_CSV_PATH, selection, { month: report.month.name });
  return (
    <ButtonLink href={href}>
      <Icon name="download" />
      Download CSV
    </ButtonLink>
  );
}

const utcTimes = lazy(() => createPageTimes({ locale: "en", time_zone: "UTC" }));

function ShownReport(props: { view: ReportView; page: PageRow; report: Report }) {
  const { page, report, view } = props;
  const { month } = report;
  const pathOf = (name: string) => selectionPath(REPORT_PATH, view.selection, { month: name });
  return (
    <>
      <div class="report-head">
        <h2>
          {page.name}, {monthName(month.name)}
        </h2>
        <MonthLinks previous={month.previous} next={month.next} pathOf={pathOf} />
      </div>
      <Readers {...props} />
      <div id="report" data-live="">
        <ReportContent
          report={report}
          times={utcTimes()}
          pathOf={({ kind, id }) => (kind === "incident" ? incidentPath(id) : maintenancePath(id))}
          componentPathOf={componentPath}
          hasMethods={false}
        />
      </div>
      <Programs {...props} />
    </>
  );
}

/** Sentences about who sees the report, and when it was mailed. */
function Readers({ view, page, report }: { view: ReportView; page: PageRow; report: Report }) {
  const zone = useZone();
  const { mailedAt, baseUrl } = view;
  const address = `${pageUrl(baseUrl, page)}/report/${report.month.name}`;
  return (
    <p class="muted not-printed">
      {page.report === "off" ? "The page shows no reports. " : null}
      {page.report === "team" ? (
        <>
          Signed-in users also see it at <a href={address}>its address</a>.{" "}
        </>
      ) : null}
      {page.report === "public" ? (
        <>
          Everyone who sees the page sees it at <a href={address}>its address</a>, without what the
          page hides.{" "}
        </>
      ) : null}
      {mailedAt === undefined ? null : <>It was mailed on {dayAt(mailedAt, zone)}. </>}
      <a href={pagePath(page.id)}>Page settings</a>
    </p>
  );
}

/** Addresses at which programs read the figures. */
function Programs({ page, report }: { page: PageRow; report: Report }) {
  const { month } = report;
  const [from, to] = [month.from, month.to].map((at) => toIso(at).replace(".000Z", "Z"));
  return (
    <div class="report-programs muted not-printed">
      <p>With an API key, programs read the figures of the month as JSON or CSV:</p>
      <ul>
        {["uptime", "incidents", "latency"].map((name) => (
          <li key={name}>
            <code>{`/api/v1/analytics/${name}?page=${page.slug}&from=${from}&to=${to}`}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ReportView {
  selection: Selection;
  /** Page of the report; undefined without any page. */
  page: PageRow | undefined;
  report: Report | undefined;
  /** Time at which the report was mailed, in unix ms; undefined if it was not. */
  mailedAt: number | undefined;
  /** Public address of the server. */
  baseUrl: string;
  /** Time at which it was read, in unix ms. */
  now: number;
}

/**
 * Reads the report of a month (`YYYY-MM`) of the selected or the default page: by default that of the last month, or of the
 * present one if nothing was known in the last.
 */
export async function readReport(
  reader: Reader,
  selection: Selection,
  name: string,
  { now, baseUrl }: { now: number; baseUrl: string },
): Promise<ReportView> {
  const page = selection.page ?? choosePage(selection.pages, undefined);
  const view = { selection: { ...selection, page }, page, baseUrl, now, mailedAt: undefined };
  if (!page) return { ...view, report: undefined };
  const asked = new RegExp(MONTH_PATTERN).test(name) ? [name] : [];
  const month = [...asked, monthNameAt(now, -1), monthNameAt(now)]
    .values()
    .map((each) => findReportMonth(reader, page, each, now))
    .find((each) => each !== undefined);
  if (!month) return { ...view, report: undefined };
  const report = await runInSlices(reportSteps(reader, page, month, now));
  const mailed = findMailedReport(reader, { pageId: page.id, month: month.name });
  return { ...view, report, mailedAt: mailed?.mailedAt };
}
