import { notFound } from "../../../base/errors";
import { parseStoredAddress, type SuppressionReason } from "../../../base/mail-address";
import { toIso } from "../../../base/time";
import { Card, CodeBlock, EmptyState, Facts, Notice, Secret } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Actions, DialogForm, Form, TextArea, TextField } from "../../../ui/form";
import { FormFields } from "../../../ui/forms/fields";
import { defineForm, type Field } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { MAIL_PATH, withQuery } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import type { Screen } from "../../../ui/frame/render";
import { REASON_CAUSES, REASON_LABELS } from "../../../ui/frame/suppression-words";
import { Cell, CellNote, Row, RowLink, Table } from "../../../ui/list";
import { PageHead, Pagination, Tabs } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { shownBefore } from "../../../ui/screens/form-screen";
import { NoOlder } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import { ALERTS_AS_PAGE } from "../alert-stop-store";
import { findReportToken, makeReportToken, revokeReportToken } from "../reports";
import { findReport, listUnmatched, type ReportRow } from "../store";
import {
  getSuppressed,
  type ListedSuppression,
  listSuppressed,
  suppressionsOfAddress,
  undoSuppression,
} from "../suppressions";

/** Words of a person who had declined, for an admin who ends that. Other suppressions need none. */
const requestField: Field<string, string, ListedSuppression> = {
  label: "The person’s request",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => typed,
  fromStored: (text) => text,
  Input: ({ name, value, errors, context }) =>
    context.undo === "request" ? (
      <TextArea
        label="The person’s request"
        hint="In the person’s own words. It is kept in the activity."
        name={name}
        value={value}
        rows={3}
        error={errors[name]}
      />
    ) : null,
};

/** Returns the name of the action that ends a suppression. */
function endTitle(reason: string): string {
  return reason === "blocked" ? "Unblock address" : "End suppression";
}

const UNDO_FORM = defineForm<{ request: string }, ListedSuppression>()({ request: requestField });
const TOKEN_FORM = defineForm<object, { hasToken: boolean }>()({});

/** Adds the screens about what came back: reports, suppressed addresses, and the token for reports. */
export function addReturnRoutes(area: Area, { ctx }: Pick<AdminDependencies, "ctx">): void {
  const now = () => ctx.clock.now();

  area.screen("/reports", ({ query }) => {
    const before = query["before"] || "~";
    const rows = listUnmatched(ctx.db, { before, limit: REPORTS_SHOWN + 1 });
    const list = {
      reports: rows.slice(0, REPORTS_SHOWN),
      hasMore: rows.length > REPORTS_SHOWN,
      isContinued: query["before"] !== undefined,
      now: now(),
    };
    return { title: "Unmatched reports", children: <ReportList {...list} /> };
  });

  area.screen("/reports/:id", ({ params }) => {
    const report = findReport(ctx.db, { id: params.id });
    if (!report || report.mailId !== null) throw notFound("report");
    return { title: "Report", children: <ReportDetail report={report} now={now()} /> };
  });

  area.screen("/suppressions", ({ query }) => {
    const reason = LISTED_REASONS.find((one) => one === query["reason"]) ?? "bounced";
    const before = readPosition(query["before"]);
    const list = listSuppressed(ctx.db, reason, before, now());
    const props = { ...list, reason, isContinued: before !== undefined, now: now() };
    return { title: "Suppressed addresses", children: <SuppressionList {...props} /> };
  });

  area.form("/suppressions/:reason/:mark", {
    form: UNDO_FORM,
    load: (reader, { params }) =>
      getSuppressed(reader, { addressHmac: params.mark, reason: params.reason }, now()),
    show: (state, { params }) => ({
      title: endTitle(params.reason),
      children: (
        <DialogForm
          title={endTitle(params.reason)}
          action={undoPath({ reason: params.reason, addressHmac: params.mark })}
          hidden={state.hidden}
          button={endTitle(params.reason)}
          cancelHref={SUPPRESSIONS_PATH}
        >
          <UndoText suppression={state.context} />
          <FormFields form={UNDO_FORM} state={state} />
        </DialogForm>
      ),
    }),
    submit(tx, { request }, actor, { params }) {
      const { mark, reason } = params;
      undoSuppression(ctx, tx, { addressHmac: mark, reason, request }, actor);
      return reason;
    },
    done: (reason) => ({
      path: `${SUPPRESSIONS_PATH}?reason=${reason}`,
      text: "The address can get mail again.",
    }),
  });

  area.secretForm("/token", {
    form: TOKEN_FORM,
    load: (reader) => ({ hasToken: findReportToken(reader) !== undefined }),
    show: ({ context, hidden }) => ({
      title: context.hasToken ? "Replace token" : "Create token",
      children: <MakeToken {...context} hidden={hidden} />,
    }),
    create: (tx, _body, actor) => ({ made: makeReportToken(ctx, tx, actor), subjectId: "mail" }),
    reveal(reveal) {
      if ("shownBefore" in reveal) {
        return shownBefore({
          secret: "token",
          ifLost: "replace it",
          object: { href: MAIL_PATH, label: "Open mail settings" },
          list: MAIL_PATH,
        });
      }
      const page = { token: reveal.revealed, baseUrl: ctx.baseUrl };
      return {
        title: "Token for reports",
        isSecret: true,
        children: <RevealedReportToken {...page} />,
      };
    },
  });

  area.confirmation("/token/revoke", {
    show: () =>
      findReportToken(ctx.db)
        ? { title: "Revoke token", children: <RevokeToken /> }
        : { path: MAIL_PATH },
    run: (tx, _at, actor) => revokeReportToken(ctx, tx, actor),
    done: (isChanged) => ({
      path: MAIL_PATH,
      text: isChanged ? "The token was revoked." : undefined,
    }),
  });
}

/** Returns the screen with the suppressions of the address that was typed. */
export function foundAddress(ctx: AdminDependencies["ctx"], typed: string): Screen {
  const address = typed.trim();
  const parsed = parseStoredAddress(address, { allowUtf8Local: true });
  const error = "error" in parsed ? `The address ${parsed.error}.` : undefined;
  const now = ctx.clock.now();
  const props = {
    suppressed: error === undefined ? suppressionsOfAddress(ctx.db, address, now) : [],
    search: { address, error },
    reason: undefined,
    hasMore: false,
    isContinued: false,
    now,
  };
  const status = error === undefined ? 200 : 422;
  return { title: "Suppressed addresses", status, children: <SuppressionList {...props} /> };
}

/** Reads the position in the list of suppressions: time and mark of the last one before. */
function readPosition(text = ""): { at: number; addressHmac: string } | undefined {
  const [, at = "", addressHmac = ""] = /^(\d{1,15})\.([\w-]{43})$/.exec(text) ?? [];
  return at === "" ? undefined : { at: Number(at), addressHmac };
}

/** Number of reports on one part of the list. */
const REPORTS_SHOWN = 50;

const KIND_LABELS: Readonly<Record<ReportRow["kind"], string>> = {
  hard: "Address does not exist",
  soft: "Not delivered",
  complaint: "Complaint",
  other: "Not understood",
};

const UNMATCHED_COLUMNS = [
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
function ReportList({ reports, hasMore, isContinued, now }: ReportListProps) {
  return (
    <>
      <PageHead title="Unmatched reports" crumbs={crumbsTo(MAIL_PATH)}>
        Reports that name no mail of this server. They change nothing, and are kept for 30 days.
      </PageHead>
      {reports.length > 0 ? (
        <Table columns={UNMATCHED_COLUMNS} caption="Unmatched reports">
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
function ReportDetail({ report, now }: { report: ReportRow; now: number }) {
  const crumbs = [...crumbsTo(MAIL_PATH), { href: MAIL_REPORTS_PATH, label: "Unmatched reports" }];
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

/** Screen that shows the token for reports once, with a command that uses it. */
function RevealedReportToken({ token, baseUrl }: { token: string; baseUrl: string }) {
  const url = `${baseUrl}/api/v1/mail/bounces/${token}`;
  const curl = `curl -fsS -H "Content-Type: message/rfc822" --data-binary @- ${url} < bounce.eml`;
  return (
    <>
      <PageHead title="Token for reports" crumbs={crumbsTo(MAIL_PATH)} />
      <Notice tone="degraded" title="This address is shown only once">
        Copy the address before you leave this page, since Allclear stores only a hash of its token.
        If you lose it, replace the token.
      </Notice>
      <Card title="Address for reports">
        <Secret text={url} copyLabel="Copy address" />
        <p class="muted">
          Bounces and complaints are sent here as they come by mail, or by a provider as JSON. The
          token grants nothing else.
        </p>
      </Card>
      <Card title="Command">
        <CodeBlock text={curl} copyLabel="Copy command" isSecret />
        <p class="muted">
          On the machine of Allclear, a mail server can run <code>allclear mail bounce</code>{" "}
          instead, without a token.
        </p>
      </Card>
      <Actions>
        <ButtonLink href={MAIL_PATH}>I have stored it</ButtonLink>
      </Actions>
    </>
  );
}

/** Asks before the token is made or replaced. */
function MakeToken(props: { hasToken: boolean; hidden: Readonly<Record<string, string>> }) {
  const { hasToken, hidden } = props;
  const title = hasToken ? "Replace token" : "Create token";
  return (
    <DialogForm
      title={title}
      action={MAIL_TOKEN_PATH}
      hidden={hidden}
      button={title}
      isDanger={hasToken}
      cancelHref={MAIL_PATH}
    >
      <p>
        {hasToken
          ? "Reports with the current token are refused at once. Give the new one to your mail server or provider."
          : "A mail server or a provider reports bounces and complaints with the token. It grants nothing else, and is shown once."}
      </p>
    </DialogForm>
  );
}

/** Asks before the token is revoked. */
function RevokeToken() {
  return (
    <DialogForm
      title="Revoke token"
      action={MAIL_REVOKE_PATH}
      button="Revoke token"
      isDanger
      cancelHref={MAIL_PATH}
    >
      <p>
        Reports by HTTP are refused at once. <code>allclear mail bounce</code> still works.
      </p>
    </DialogForm>
  );
}

/** Reasons by which the list is filtered. Those of one page are shown with its subscribers. */
const LISTED_REASONS = ["bounced", "soft", "complained", "declined", "blocked"] as const;
type ListedReason = (typeof LISTED_REASONS)[number];

const NO_MESSAGES = "The address gets no mailings and no alerts.";

/** Consequences of suppressions, as sentences. */
const EFFECTS: Readonly<Record<SuppressionReason, string>> = {
  bounced: NO_MESSAGES,
  soft: NO_MESSAGES,
  complained: NO_MESSAGES,
  unsubscribed: "The address gets no mailings of the page.",
  declined: "The address gets no mails about sign-ups and no mailings.",
  blocked: "The address gets only invitations and password resets.",
  erased: "",
};

/** Words about an address whose owner stopped alerts. */
const STOPPED_ALERTS = {
  label: "Stopped alerts",
  cause: "The person stopped alerts to the address.",
  effect: "The address gets no alerts.",
};

/** Returns the words about a suppression: its name, cause and consequence. */
function wordsOf({ reason, pageId }: ListedSuppression): typeof STOPPED_ALERTS {
  return pageId === ALERTS_AS_PAGE
    ? STOPPED_ALERTS
    : { label: REASON_LABELS[reason], cause: REASON_CAUSES[reason], effect: EFFECTS[reason] };
}

const SUPPRESSION_COLUMNS = [
  { label: "Address" },
  { label: "Reason" },
  { label: "Since" },
  { label: "Actions", isHidden: true },
];

interface SuppressionListProps {
  suppressed: readonly ListedSuppression[];
  now: number;
  /** Reason of the list; undefined for the result of a search. */
  reason: ListedReason | undefined;
  /** Address that was searched for; its error if it is none. */
  search?: { address: string; error?: string | undefined };
  hasMore: boolean;
  isContinued: boolean;
}

/** Addresses that get no mail of a kind: by reason, or those of one address. */
function SuppressionList(props: SuppressionListProps) {
  const { suppressed, reason, search, hasMore, isContinued, now } = props;
  const last = suppressed.at(-1);
  const home = withQuery(SUPPRESSIONS_PATH, { reason });
  return (
    <>
      <PageHead title="Suppressed addresses" crumbs={crumbsTo(MAIL_PATH)}>
        Addresses that get no mail of some kinds. Only a mark of each is kept, so an address is
        shown only while a subscriber or a mail still has it.
      </PageHead>
      <Tabs
        label="Suppressions by reason"
        items={LISTED_REASONS.map((one) => ({
          href: withQuery(SUPPRESSIONS_PATH, { reason: one }),
          label: REASON_LABELS[one],
          isCurrent: one === reason,
        }))}
      />
      <AddressSearch search={search} />
      {suppressed.length > 0 ? (
        <Table columns={SUPPRESSION_COLUMNS} caption="Suppressed addresses">
          {suppressed.map((one) => (
            <SuppressionLine
              key={`${one.addressHmac} ${one.pageId} ${one.reason}`}
              suppression={one}
              now={now}
            />
          ))}
        </Table>
      ) : (
        <Nothing {...props} />
      )}
      <Pagination
        newestHref={isContinued ? home : undefined}
        olderHref={
          hasMore && last
            ? withQuery(SUPPRESSIONS_PATH, { reason, before: `${last.at}.${last.addressHmac}` })
            : undefined
        }
      />
    </>
  );
}

/** Search by a whole address. It is posted, so that no address gets into a log. */
function AddressSearch({ search }: Pick<SuppressionListProps, "search">) {
  return (
    <Card title="Find an address">
      <Form action={SUPPRESSIONS_PATH}>
        <TextField
          label="Whole address"
          name="address"
          type="email"
          value={search?.address ?? ""}
          autocomplete="off"
          error={search?.error}
        />
        <Actions>
          <Button>Find address</Button>
        </Actions>
      </Form>
    </Card>
  );
}

function Nothing({ reason, search, isContinued }: SuppressionListProps) {
  if (search?.error !== undefined) return null;
  if (search) {
    return <EmptyState title="This address is not suppressed">It gets all mail.</EmptyState>;
  }
  if (isContinued) return <NoOlder what="suppressions" newest={SUPPRESSIONS_PATH} />;
  return (
    <EmptyState title="No suppressed addresses for this reason">
      {reason === undefined ? "" : `${REASON_CAUSES[reason]} Such addresses appear here.`}
    </EmptyState>
  );
}

function SuppressionLine({ suppression, now }: { suppression: ListedSuppression; now: number }) {
  const { address, reason, note, at, undo } = suppression;
  return (
    <Row>
      <Cell>
        <span class="strong">{address ?? <span class="quiet-text">Not stored any more</span>}</span>
        {note === null ? null : <CellNote>{note}</CellNote>}
      </Cell>
      <Cell label="Reason">{wordsOf(suppression).label}</Cell>
      <Cell label="Since">
        <RelativeTime at={toIso(at)} now={now} />
      </Cell>
      <Cell>
        {undo === "person" ? (
          <span class="quiet-text">Ends when the person confirms again</span>
        ) : undo === "waiting" ? (
          <span class="quiet-text">Was ended less than 7 days ago</span>
        ) : (
          <ButtonLink href={undoPath(suppression)} dialog>
            {reason === "blocked" ? "Unblock address" : "End suppression"}
          </ButtonLink>
        )}
      </Cell>
    </Row>
  );
}

/** Consequences of ending a suppression. */
function UndoText({ suppression }: { suppression: ListedSuppression }) {
  const { address, reason, undo } = suppression;
  const { cause, effect } = wordsOf(suppression);
  return (
    <>
      <p>
        {address === null ? "" : `${address}: `}
        {cause} {effect}
      </p>
      <p>
        {undo === "request"
          ? "End this only if the person asked for it. The words are kept in the activity."
          : reason === "blocked"
            ? "Mail is sent to the address again."
            : "Mail is sent to the address again. If it fails again, the suppression can be ended again after 7 days."}
      </p>
    </>
  );
}

export const MAIL_TEST_PATH = `${MAIL_PATH}/test`;
export const MAIL_REMOVE_PATH = `${MAIL_PATH}/remove`;
export const MAIL_TOKEN_PATH = `${MAIL_PATH}/token`;
export const MAIL_REVOKE_PATH = `${MAIL_PATH}/token/revoke`;
export const MAIL_REPORTS_PATH = `${MAIL_PATH}/reports`;
export const SUPPRESSIONS_PATH = `${MAIL_PATH}/suppressions`;

/** Returns the path of a report. */
function reportPath(id: string): string {
  return `${MAIL_REPORTS_PATH}/${id}`;
}

/** Returns the path at which a suppression is ended. */
export function undoPath({ reason, addressHmac }: { reason: string; addressHmac: string }): string {
  return `${SUPPRESSIONS_PATH}/${reason}/${addressHmac}`;
}
