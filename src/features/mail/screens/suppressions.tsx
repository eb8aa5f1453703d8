import { REASON_CAUSES, REASON_LABELS } from "../../../ui/frame/suppression-words";
import type { SuppressionReason } from "../../../base/mail-address";
import { toIso } from "../../../base/time";
import { Card, EmptyState } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Actions, Form, TextField } from "../../../ui/form";
import { GENERAL_PATH, MAIL_PATH, withQuery } from "../../../ui/frame/paths";
import { NoOlder } from "../../../ui/screens/list";
import { Cell, CellNote, Row, Table } from "../../../ui/list";
import { PageHead, Pagination, Tabs } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import { ALERTS_AS_PAGE } from "../alert-stop-store";
import type { ListedSuppression } from "../suppressions";

/** Reasons by which the list is filtered. Those of one page are shown with its subscribers. */
export const LISTED_REASONS = ["bounced", "soft", "complained", "declined", "blocked"] as const;
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

const COLUMNS = [
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
export function SuppressionList(props: SuppressionListProps) {
  const { suppressed, reason, search, hasMore, isContinued, now } = props;
  const last = suppressed.at(-1);
  const home = withQuery(SUPPRESSIONS_PATH, { reason });
  return (
    <>
      <PageHead
        title="Suppressed addresses"
        crumbs={[
          { href: GENERAL_PATH, label: "General" },
          { href: MAIL_PATH, label: "Mail settings" },
        ]}
      >
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
        <Table columns={COLUMNS} caption="Suppressed addresses">
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
export function UndoText({ suppression }: { suppression: ListedSuppression }) {
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
export function reportPath(id: string): string {
  return `${MAIL_REPORTS_PATH}/${id}`;
}

/** Returns the path at which a suppression is ended. */
export function undoPath({ reason, addressHmac }: { reason: string; addressHmac: string }): string {
  return `${SUPPRESSIONS_PATH}/${reason}/${addressHmac}`;
}
