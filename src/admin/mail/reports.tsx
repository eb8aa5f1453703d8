import type { listUnmatched, ReportRow } from "../../features/mail/reports/store";
import { toIso } from "../../base/time";
import { Card, CodeBlock, EmptyState, Facts } from "../../ui/blocks";
import { Cell, Row, RowLink, Table } from "../../ui/list";
import { PageHead, Pagination } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { GENERAL_PATH, MAIL_PATH } from "../../ui/frame/paths";
import { NoOlder } from "../../features/timeline/screens/list";
import { MAIL_REPORTS_PATH, reportPath } from "./mail-paths";

/** Number of reports on one part of the list. */
export const REPORTS_SHOWN = 50;

const KIND_LABELS: Readonly<Record<ReportRow["kind"], string>> = {
  hard: "Address does not exist",
  soft: "Not delivered",
  complaint: "Complaint",
  other: "Not understood",
};

const CRUMBS = [
  { href: GENERAL_PATH, label: "General" },
  { href: MAIL_PATH, label: "Mail settings" },
];

const COLUMNS = [
  { label: "Subject" },
  { label: "Kind" },
  { label: "Status" },
  { label: "Received" },
];

type UnmatchedReport = ReturnType<typeof listUnmatched>[number];

interface ReportListProps {
  reports: readonly UnmatchedReport[];
  hasMore: boolean;
  isContinued: boolean;
  now: number;
}

/** Reports of the last 30 days that belong to no mail, newest first. */
export function ReportList({ reports, hasMore, isContinued, now }: ReportListProps) {
  return (
    <>
      <PageHead title="Unmatched reports" crumbs={CRUMBS}>
        Reports that name no mail of this server. They change nothing, and are kept for 30 days.
      </PageHead>
      {reports.length > 0 ? (
        <Table columns={COLUMNS} caption="Unmatched reports">
          {reports.map((report) => (
            <ReportLine key={report.id} report={report} now={now} />
          ))}
        </Table>
      ) : isContinued ? (
        <NoOlder what="reports" newest={MAIL_REPORTS_PATH} />
      ) : (
        <EmptyState title="No unmatched reports">
          A bounce or a complaint appears here if it names no mail of this server. All others change
          the state of their mail.
        </EmptyState>
      )}
      <Pagination
        newestHref={isContinued ? MAIL_REPORTS_PATH : undefined}
        olderHref={hasMore ? `${MAIL_REPORTS_PATH}?before=${reports.at(-1)?.id ?? ""}` : undefined}
      />
    </>
  );
}

function ReportLine({ report, now }: { report: UnmatchedReport; now: number }) {
  return (
    <Row>
      <Cell>
        <RowLink href={reportPath(report.id)}>{subjectOf(report.beginning)}</RowLink>
      </Cell>
      <Cell label="Kind">{KIND_LABELS[report.kind]}</Cell>
      <Cell label="Status">{report.status ?? <span class="quiet-text">None</span>}</Cell>
      <Cell label="Received">
        <RelativeTime at={toIso(report.at)} now={now} />
      </Cell>
    </Row>
  );
}

/** Report in the clear, up to 20 KB. */
export function ReportDetail({ report, now }: { report: ReportRow; now: number }) {
  const crumbs = [...CRUMBS, { href: MAIL_REPORTS_PATH, label: "Unmatched reports" }];
  return (
    <>
      <PageHead title={subjectOf(report.excerpt)} crumbs={crumbs} />
      <Card title="Report">
        <Facts
          items={[
            { label: "Kind", value: KIND_LABELS[report.kind] },
            { label: "Status", value: report.status ?? "None" },
            { label: "Received", value: <RelativeTime at={toIso(report.at)} now={now} /> },
          ]}
        />
      </Card>
      <Card title="Text">
        <CodeBlock text={report.excerpt} copyLabel="Copy report" />
      </Card>
    </>
  );
}

/** Returns the subject line of a message; its kind for another one. */
function subjectOf(excerpt: string): string {
  const subject = /^Subject:[ \t]*(\S.*)$/im.exec(excerpt)?.[1]?.trim().slice(0, 120);
  return subject ?? (excerpt.startsWith("{") ? "Report of a service" : "Message without a subject");
}
