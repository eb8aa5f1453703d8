import type { PageRow } from "../../features/pages/store";
import { type Choosable, namesOfTargets } from "../../features/subscribers/choices";
import type { ListPart } from "../../features/subscribers/list-parts";
import type { ShownSuppression } from "../../features/subscribers/reactivate";
import type { SubscriberMail } from "../../features/subscribers/subscriber-mails";
import type { SubscriberRow } from "../../features/subscribers/store";
import { EVENT_LABELS } from "../../public/subscription-form";
import { toIso } from "../../base/time";
import { ButtonLink } from "../../ui/buttons";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../ui/detail";
import { Facts, FormNotice, Notice } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { REASON_CAUSES, REASON_LABELS } from "../suppression-words";
import { eraseSubscriberPath, pathsOfSubscriber, subscribersOfPagePath } from "./subscriber-paths";
import { MailList } from "./mails";
import { SOURCE_WORDS, SubscriberState } from "./words";

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
  const paths = pathsOfSubscriber(row.id);
  const isActive = row.status === "active" && page !== undefined;
  const isBlocked = suppressions.some(({ reason }) => reason === "blocked");
  return (
    <>
      {isActive ? (
        <ButtonLink href={paths.edit}>
          <Icon name="pencil" />
          Edit
        </ButtonLink>
      ) : null}
      {isActive || !isBlocked || canErase ? (
        <MoreMenu label="More actions">
          {isActive ? (
            <ButtonLink href={paths.links} dialog>
              Make old links invalid
            </ButtonLink>
          ) : null}
          {isBlocked ? null : (
            <ButtonLink href={paths.block} dialog>
              Block address
            </ButtonLink>
          )}
          {isActive ? (
            <ButtonLink href={paths.remove} kind="danger" dialog>
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
        <a href={pathsOfSubscriber(row.id).reactivate(reason)} data-dialog="">
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
