import type { MailHold } from "../../../base/mail-address";
import { toIso } from "../../../base/time";
import { Columns, EmptyState, Facts, FormNotice, Notice } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton } from "../../../ui/buttons";
import { CheckboxList } from "../../../ui/choices";
import { DetailCard, Numbers } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import { mailingPath, MAILINGS_PATH, pagePath, withQuery } from "../../../ui/frame/paths";
import { REASON_CAUSES } from "../../../ui/frame/suppression-words";
import { CellNote, DataTable } from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import type { CausedSuppression } from "../../mail/suppression-store";
import { waitingOf } from "../lists";
import type { listFailedMails } from "../store";
import type { ListedMailing } from "./list";
import {
  audienceOf,
  eventWords,
  figure,
  MailingReason,
  MailingState,
  subjectPath,
  suppressionsPath,
} from "./words";

/** Mailing with everything that its screen shows. */
export interface MailingView extends ListedMailing {
  page: { id: string; name: string } | undefined;
  hold: MailHold | undefined;
  /** Mails that failed or bounced, in the order of writing. */
  failed: ReturnType<typeof listFailedMails>;
  isContinued: boolean;
  /** Id of the last failed mail if more follow. */
  nextAfter: string | undefined;
}

interface DetailProps {
  view: MailingView;
  now: number;
  /** Reason for which the last action was not possible. */
  rejection?: string | undefined;
}

/** One mailing: figures, state, and the mails that failed. */
export function MailingDetail({ view, now, rejection }: DetailProps) {
  const { row, failed } = view;
  const title = eventWords(row);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[{ href: MAILINGS_PATH, label: "Mailings" }, { label: title }]}
        actions={<DetailActions view={view} />}
      />
      {rejection === undefined ? null : (
        <div role="alert">
          <Notice tone="major">{rejection}</Notice>
        </div>
      )}
      <Numbers
        label="Mails"
        liveId="mailing-numbers"
        items={[
          { label: "Audience", value: audienceOf(row) },
          { label: "Sent", value: figure(row.sent), note: "accepted by the relay" },
          { label: "Waiting", value: figure(waitingOf(row)) },
          { label: "Superseded", value: figure(row.superseded), note: "by a newer mail" },
          { label: "Failed", value: figure(row.failed + row.bounced) },
        ]}
      />
      <Columns aside={<MailingFacts view={view} now={now} />}>
        <DetailCard
          title="Failed mails"
          liveId="mailing-failed"
          isTable={failed.length > 0}
          count={failed.length > 0 ? figure(row.failed + row.bounced) : undefined}
        >
          {failed.length === 0 ? (
            <p class="muted">No mail of this mailing has failed.</p>
          ) : (
            <FailedMails view={view} now={now} />
          )}
        </DetailCard>
      </Columns>
    </>
  );
}

function DetailActions({ view: { row } }: { view: MailingView }) {
  if (row.state === "done" || row.state === "stopped") return null;
  return (
    <>
      {row.state === "held" ? (
        <PostButton action={mailingPath(row.id, "release")}>Release mailing</PostButton>
      ) : null}
      <ButtonLink href={mailingPath(row.id, "stop")} kind="danger" dialog>
        Stop this mailing
      </ButtonLink>
    </>
  );
}

function MailingFacts({ view, now }: { view: MailingView; now: number }) {
  const { row, subjectName, page, hold } = view;
  const state = { mailing: row, hold, now };
  return (
    <DetailCard title="Details" liveId="mailing-facts" isFlush>
      <Facts
        items={[
          {
            label: "State",
            value: (
              <>
                <MailingState {...state} />
                <CellNote>
                  <MailingReason {...state} />
                </CellNote>
              </>
            ),
          },
          {
            label: "About",
            value:
              subjectName === undefined ? "Deleted" : <a href={subjectPath(row)}>{subjectName}</a>,
          },
          ...(page ? [{ label: "Page", value: <a href={pagePath(page.id)}>{page.name}</a> }] : []),
          { label: "Event", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
          {
            label: "Sent no later than",
            value: <RelativeTime at={toIso(row.deadlineAt)} now={now} />,
          },
          { label: "Cancelled", value: figure(row.cancelled) },
          { label: "Expired", value: figure(row.expired) },
          { label: "Mailing id", value: <code>{row.id}</code>, isWide: true },
        ]}
      />
    </DetailCard>
  );
}

function FailedMails({ view, now }: { view: MailingView; now: number }) {
  const { row, failed, isContinued, nextAfter } = view;
  const home = mailingPath(row.id);
  return (
    <>
      <DataTable
        caption="Failed mails"
        isInCard
        entries={failed}
        columns={[
          { label: "Recipient", cell: ({ recipient }) => recipient },
          {
            label: "Reply of the relay",
            cell: ({ reply, tries }) => (
              <>
                {reply ?? "None"}
                {tries > 1 ? <CellNote>{tries} attempts</CellNote> : null}
              </>
            ),
          },
          {
            label: "When",
            cell: ({ finishedAt }) =>
              finishedAt === null ? null : <RelativeTime at={toIso(finishedAt)} now={now} />,
          },
        ]}
      />
      <Pagination
        newestHref={isContinued ? home : undefined}
        olderHref={nextAfter && withQuery(home, { after: nextAfter })}
      />
    </>
  );
}

/** Name of the checkboxes, and of the button for all of them. */
export const MAIL_FIELD = "mail";
export const ALL_FIELD = "all";

interface SuppressionsProps {
  hold: MailHold;
  suppressions: readonly CausedSuppression[];
  error?: string | undefined;
  now: number;
}

/** Suppressions that the mails of a hold caused, with buttons to end some or all. */
export function HoldSuppressions({ hold, suppressions, error, now }: SuppressionsProps) {
  return (
    <>
      <PageHead
        title="Suppressed addresses"
        crumbs={[{ href: MAILINGS_PATH, label: "Mailings" }, { label: "Suppressed addresses" }]}
      >
        Addresses that get no mail since the failures for which mailings were held{" "}
        <RelativeTime at={toIso(hold.at)} now={now} />. End the suppressions if the relay was at
        fault; each can be ended once in 7 days.
      </PageHead>
      {suppressions.length === 0 ? (
        <EmptyState title="No suppressed addresses">
          No suppression of this hold is left: an admin ended it, or the person confirmed again.
        </EmptyState>
      ) : (
        <Form action={suppressionsPath(hold.at)} enter={{}}>
          {error === undefined ? null : <FormNotice>{error}</FormNotice>}
          <CheckboxList
            legend="Addresses"
            name={MAIL_FIELD}
            options={suppressions.map(({ mailId, recipient, reason, note }) => ({
              value: mailId ?? "",
              label: recipient ?? "Erased address",
              hint: [REASON_CAUSES[reason], note].filter(Boolean).join(" "),
              isChecked: false,
            }))}
          />
          <Actions>
            <Button kind="primary">End selected</Button>
            <Button name={ALL_FIELD} value="yes">
              End all
            </Button>
          </Actions>
        </Form>
      )}
    </>
  );
}
