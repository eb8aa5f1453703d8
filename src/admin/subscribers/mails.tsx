import type { ListPart } from "../../features/subscribers/list-parts";
import type { SubscriberMail } from "../../features/subscribers/subscriber-mails";
import { toIso } from "../../base/time";
import { Cell, CellNote, Row, Table } from "../../ui/list";
import { Pagination } from "../../ui/navigation";
import { PostButton } from "../../ui/buttons";
import { RelativeTime } from "../../ui/times";
import { eventWords } from "../mailings/words";
import { incidentPath, maintenancePath } from "../../ui/frame/paths";
import { NoOlder } from "../../features/timeline/screens/list";
import { NextTry } from "../webhooks/deliveries";
import { pathsOfSubscriber } from "./subscriber-paths";
import { MailState } from "./words";

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
export function MailList(props: MailsProps) {
  const { subscriberId, mails, isContinued } = props;
  const { home, mailsBefore } = pathsOfSubscriber(subscriberId);
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
        olderHref={mails.nextBefore === undefined ? undefined : mailsBefore(mails.nextBefore)}
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
            action={pathsOfSubscriber(subscriberId).sendAgain(id)}
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
