import type { SuppressionReason } from "../../../base/mail-address";
import { toIso } from "../../../base/time";
import { languageName } from "../../pages/screens/forms";
import { EVENT_LABELS } from "../../../public/subscription-form";
import { Facts, FormNotice, Notice } from "../../../ui/blocks";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import { DialogForm } from "../../../ui/form";
import { FormInputs } from "../../../ui/forms/fields";
import type { StateOf } from "../../../ui/forms/form";
import { incidentPath, maintenancePath, subscriberPath, withQuery } from "../../../ui/frame/paths";
import { REASON_CAUSES, REASON_LABELS } from "../../../ui/frame/suppression-words";
import { Icon } from "../../../ui/icons";
import { Cell, CellNote, Row, Table } from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { NoOlder } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import { eventWords } from "../../mailings/screens/words";
import type { PageRow } from "../../pages/store";
import { NextTry } from "../../webhooks/screens/delivery";
import { type Choosable, namesOfTargets } from "../choices";
import type { ListPart, SubscriberMail } from "../list";
import type { SubscriberRow } from "../store";
import type { ShownSuppression } from "../subscribers";
import { BLOCK_FORM, REACTIVATE_FORM } from "./forms";
import {
  eraseSubscriberPath,
  MailState,
  SOURCE_WORDS,
  subscribersOfPagePath,
  SubscriberState,
} from "./list";

/** A subscriber with everything that its screen shows. */
export interface SubscriberView {
  row: SubscriberRow;
  /** Page of the subscription; undefined if it was deleted. */
  page: PageRow | undefined;
  targets: readonly string[];
  choosable: Choosable;
  suppressions: readonly ShownSuppression[];
  mails: ListPart<SubscriberMail>;
  isContinued: boolean;
}

interface DetailProps {
  view: SubscriberView;
  /** True for a user who may erase the address. */
  canErase: boolean;
  formToken: string;
  /** Reason for which an action was rejected. */
  notice?: string | undefined;
  now: number;
}

/** Returns the address of a subscriber as a title. */
export function titleOf({ address }: Pick<SubscriberRow, "address">): string {
  return address ?? "Former subscriber";
}

/** One subscriber: state, choices, consent and mails. */
export function SubscriberDetail({ view, canErase, formToken, notice, now }: DetailProps) {
  const { row, page, suppressions, mails, isContinued } = view;
  const isActive = row.status === "active";
  const stops = suppressions.filter(({ reason }) => reason !== "unsubscribed");
  return (
    <>
      <PageHead
        title={titleOf(row)}
        crumbs={[
          {
            ...(page ? { href: subscribersOfPagePath(page.slug) } : {}),
            label: "Subscribers",
          },
        ]}
        actions={<HeadActions view={view} canErase={canErase} />}
      >
        <HeadFacts>
          <SubscriberState
            status={row.status}
            reasons={suppressions.map(({ reason }) => reason).join(",")}
          />
          <HeadFact icon="globe">
            {page ? <a href={`/status/${page.slug}`}>{page.name}</a> : "Deleted page"}
          </HeadFact>
        </HeadFacts>
      </PageHead>
      {notice === undefined ? null : <FormNotice>{notice}</FormNotice>}
      {stops.map((one) => (
        <SuppressionNotice key={one.reason} row={row} suppression={one} now={now} />
      ))}
      <DetailCard title="Subscription" liveId="subscription" isFlush>
        <SubscriptionFacts view={view} now={now} />
      </DetailCard>
      <DetailCard title="Messages" liveId="messages" isStill isTable>
        <MailList
          subscriberId={row.id}
          mails={mails}
          isContinued={isContinued}
          canSendAgain={isActive && stops.length === 0}
          formToken={formToken}
          now={now}
        />
      </DetailCard>
    </>
  );
}

function HeadActions(props: Pick<DetailProps, "view" | "canErase">) {
  const { row, page, suppressions } = props.view;
  const canErase = props.canErase && row.address !== null;
  const isActive = row.status === "active" && page !== undefined;
  const isBlocked = suppressions.some(({ reason }) => reason === "blocked");
  return (
    <>
      {isActive ? (
        <ButtonLink href={subscriberPath(row.id, "edit")}>
          <Icon name="pencil" />
          Edit
        </ButtonLink>
      ) : null}
      {isActive || !isBlocked || canErase ? (
        <MoreMenu label="More actions">
          {isActive ? (
            <ButtonLink href={subscriberPath(row.id, "links")} dialog>
              Make old links invalid
            </ButtonLink>
          ) : null}
          {isBlocked ? null : (
            <ButtonLink href={subscriberPath(row.id, "block")} dialog>
              Block address
            </ButtonLink>
          )}
          {isActive ? (
            <ButtonLink href={subscriberPath(row.id, "remove")} kind="danger" dialog>
              Remove
            </ButtonLink>
          ) : null}
          {canErase ? (
            <ButtonLink href={eraseSubscriberPath(row.id)} kind="danger">
              Erase address
            </ButtonLink>
          ) : null}
        </MoreMenu>
      ) : null}
    </>
  );
}

function SuppressionNotice(props: {
  row: SubscriberRow;
  suppression: ShownSuppression;
  now: number;
}) {
  const { row, suppression, now } = props;
  const { reason, note, at, undo } = suppression;
  if (reason === "erased") return null;
  return (
    <Notice
      tone="partial"
      title={`The address is suppressed: ${REASON_LABELS[reason].toLowerCase()}`}
    >
      {REASON_CAUSES[reason]} Since <RelativeTime at={toIso(at)} now={now} />.
      {note === null || note === "" ? null : <> “{note}”</>}{" "}
      {undo === "person" ? (
        "It gets messages again once the person confirms a subscription."
      ) : undo === "waiting" ? (
        "An admin ended the suppression less than 7 days ago, and mail failed again. An admin can end it again after these 7 days; the person can at any time, by confirming."
      ) : (
        <a href={subscriberPath(row.id, "reactivate", reason)} data-dialog="">
          {reason === "blocked" ? "Unblock address" : "End suppression"}
        </a>
      )}
    </Notice>
  );
}

function SubscriptionFacts({ view, now }: { view: SubscriberView; now: number }) {
  const { row, targets, choosable } = view;
  const names = namesOfTargets(targets, choosable);
  const { confirmedAt, unsubscribedAt, consentSource, consentText, consentIp } = row;
  return (
    <Facts
      items={[
        {
          label: "Messages about",
          isWide: true,
          value:
            row.scope === "page"
              ? "Everything on the page"
              : names.length === 0
                ? "Nothing: the chosen components were deleted"
                : names.join(", "),
        },
        {
          label: "Kinds of messages",
          isWide: true,
          value: row.events.map((event) => EVENT_LABELS[event]).join(", "),
        },
        ...(row.language === null
          ? []
          : [{ label: "Language", value: languageName(row.language) }]),
        { label: "Subscribed", value: <RelativeTime at={toIso(confirmedAt)} now={now} /> },
        ...(unsubscribedAt === null
          ? []
          : [
              {
                label: "Unsubscribed",
                value: <RelativeTime at={toIso(unsubscribedAt)} now={now} />,
              },
            ]),
        { label: "Changed", value: <RelativeTime at={toIso(row.updatedAt)} now={now} /> },
        { label: "Consent", value: SOURCE_WORDS[consentSource] },
        { label: "Client address", value: consentIp ?? "Not kept" },
        { label: "Words of the consent", isWide: true, value: consentText ?? "None" },
      ]}
    />
  );
}

const COLUMNS = [
  { label: "Message" },
  { label: "Status" },
  { label: "Attempts" },
  { label: "Reply of the relay" },
  { label: "Queued" },
  { label: "Actions", isHidden: true },
];

interface MailsProps {
  subscriberId: string;
  mails: ListPart<SubscriberMail>;
  isContinued: boolean;
  /** False if no mail would be sent. */
  canSendAgain: boolean;
  /** Identifies this rendering, so that a repeated click sends one mail. */
  formToken: string;
  now: number;
}

/** Mails to a subscriber, newest first. */
function MailList(props: MailsProps) {
  const { subscriberId, mails, isContinued } = props;
  const home = subscriberPath(subscriberId);
  return (
    <>
      {mails.rows.length === 0 ? (
        isContinued ? (
          <NoOlder what="messages" newest={home} />
        ) : (
          <p class="detail-body">No message was sent to this address yet.</p>
        )
      ) : (
        <Table columns={COLUMNS} caption="Messages" isInCard>
          {mails.rows.map((mail) => (
            <MailLine key={mail.id} mail={mail} {...props} />
          ))}
        </Table>
      )}
      <Pagination
        newestHref={isContinued ? home : undefined}
        olderHref={mails.nextBefore && withQuery(home, { before: mails.nextBefore })}
      />
    </>
  );
}

function MailLine({ mail, ...props }: MailsProps & { mail: SubscriberMail }) {
  const { subscriberId, canSendAgain, formToken, now } = props;
  const { id, kind, copy, status, tries, nextTryAt, reply, createdAt, mailingId } = mail;
  const isOver = status !== "pending" && status !== "superseded";
  return (
    <Row>
      <Cell>
        <MessageName mail={mail} />
        <CellNote>
          {kind === null ? "Sign-up" : eventWords({ kind })}
          {copy > 0 ? ", sent again" : ""}
        </CellNote>
      </Cell>
      <Cell label="Status">
        <MailState status={status} tries={tries} />
      </Cell>
      <Cell label="Attempts">
        {tries}
        {nextTryAt === null ? null : (
          <CellNote>
            <NextTry at={nextTryAt} now={now} />
          </CellNote>
        )}
      </Cell>
      <Cell label="Reply of the relay">{reply ?? <span class="quiet-text">None</span>}</Cell>
      <Cell label="Queued">
        <RelativeTime at={toIso(createdAt)} now={now} />
      </Cell>
      <Cell>
        {canSendAgain && isOver && mailingId !== null ? (
          <PostButton
            action={subscriberPath(subscriberId, "mails", id, "send-again")}
            name="form"
            value={`${formToken}-${id}`}
          >
            Send again
          </PostButton>
        ) : null}
      </Cell>
    </Row>
  );
}

const SIGN_UP_NAMES: Readonly<Record<string, string>> = {
  confirmation: "Confirmation of the address",
  already_subscribed: "Subscribed already",
};

/** Name of a message, with a link to the incident or maintenance that it is about. */
function MessageName({ mail }: { mail: SubscriberMail }) {
  const { template, subject, subjectId } = mail;
  const name = subject ?? SIGN_UP_NAMES[template] ?? "Message";
  if (subjectId.startsWith("inc_")) return <a href={incidentPath(subjectId)}>{name}</a>;
  if (subjectId.startsWith("mnt_")) return <a href={maintenancePath(subjectId)}>{name}</a>;
  return <>{name}</>;
}

interface ConfirmProps {
  title: string;
  row: SubscriberRow;
}

/** Asks before an address is blocked. */
export function BlockAddress(props: ConfirmProps & { state: StateOf<typeof BLOCK_FORM> }) {
  const { title, row, state } = props;
  return (
    <DialogForm
      title={title}
      action={subscriberPath(row.id, "block")}
      hidden={state.hidden}
      button="Block address"
      isDanger
      cancelHref={subscriberPath(row.id)}
    >
      <p>
        The address gets no messages of any page, no alerts, and no mail to confirm a sign-up, until
        an admin unblocks it. Invitations and password resets are still sent.
      </p>
      <FormInputs form={BLOCK_FORM} state={state} />
    </DialogForm>
  );
}

interface ReactivateProps extends ConfirmProps {
  reason: SuppressionReason;
  state: StateOf<typeof REACTIVATE_FORM>;
}

/** Asks before a suppression is ended. */
export function Reactivate({ title, row, reason, state }: ReactivateProps) {
  return (
    <DialogForm
      title={title}
      action={subscriberPath(row.id, "reactivate", reason)}
      hidden={state.hidden}
      button={reason === "blocked" ? "Unblock address" : "End suppression"}
      cancelHref={subscriberPath(row.id)}
    >
      <p>
        {reason === "declined"
          ? "The person asked never to get mails about sign-ups. End this only if the person asks for it."
          : reason === "blocked"
            ? "The address can get mail again."
            : "The address gets messages again. If mail fails again, an admin can end the suppression after 7 days at the earliest: providers watch senders that keep on writing to dead addresses."}
      </p>
      <FormInputs form={REACTIVATE_FORM} state={state} />
    </DialogForm>
  );
}
