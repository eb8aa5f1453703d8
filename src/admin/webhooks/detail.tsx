import { ANY_EVENT, isForPeople } from "../../base/webhook";
import { FORMATS } from "../../features/webhooks/formats";
import { presentWebhook } from "../../features/webhooks/model";
import { recipientOf } from "../../features/webhooks/recipient";
import { webhookName } from "../../features/webhooks/changes";
import { toIso } from "../../base/time";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { Card, Chip, Chips, Facts, Section } from "../../ui/blocks";
import { CellNote } from "../../ui/list";
import { Icon } from "../../ui/icons";
import { MoreMenu } from "../../ui/detail";
import { PageHead } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { ManagedByFile } from "../../features/components/screens/forms";
import { monitorPath, pagePath, WEBHOOKS_PATH } from "../../ui/frame/paths";
import { UnconfirmedNotice } from "./confirmation";
import { DeliveryList } from "./deliveries";
import {
  DisabledNotice,
  FailingNotice,
  LastError,
  NoMonitorsNotice,
  PausedNotice,
  SuccessRate,
  Waiting,
  WebhookState,
} from "./health";
import type { WebhookView } from "./read";
import { settingsOf } from "./setting-fields";
import { pathsOfWebhook } from "./webhook-paths";

interface WebhookDetailProps {
  view: WebhookView;
  /**
   * Identifies this rendering of the test button, so that a repeated click sends one test event.
   */
  formToken: string;
  /** Unix ms. */
  now: number;
}

/** One endpoint: settings, health and deliveries. */
export function WebhookDetail({ view, formToken, now }: WebhookDetailProps) {
  const { question } = view;
  const { row } = view.record;
  const paths = pathsOfWebhook(row.id);
  const isMail = row.format === "email";
  const isOpen = row.enabled && !question;
  return (
    <>
      <PageHead
        title={webhookName(row)}
        crumbs={[{ href: WEBHOOKS_PATH, label: "Webhooks" }]}
        actions={
          <>
            {isOpen ? (
              <PostButton action={paths.test} name="form" value={formToken}>
                Send test event
              </PostButton>
            ) : null}
            <ButtonLink href={paths.edit}>
              <Icon name="pencil" />
              Edit
            </ButtonLink>
            <MoreMenu label="More actions">
              {isMail ? null : (
                <ButtonLink href={paths.rotate} dialog>
                  Rotate secret
                </ButtonLink>
              )}
              {row.enabled ? (
                <ButtonLink href={paths.disable} dialog>
                  Disable
                </ButtonLink>
              ) : null}
              <ButtonLink href={paths.delete} kind="danger" dialog>
                Delete
              </ButtonLink>
            </MoreMenu>
          </>
        }
      />
      {row.enabled ? (
        <>
          {view.record.pausedUntil === null ? (
            <FailingNotice row={row} failure={view.failure} backlog={view.backlog} now={now} />
          ) : (
            <PausedNotice record={view.record} backlog={view.backlog} />
          )}
          <NoMonitorsNotice row={row} />
        </>
      ) : (
        <DisabledNotice row={row} now={now} />
      )}
      {question ? <UnconfirmedNotice row={row} question={question} now={now} /> : null}
      {row.managedBy === "apply" ? <ManagedByFile what="webhook" /> : null}
      <Card>
        <WebhookFacts view={view} now={now} />
      </Card>
      <Section
        title="Deliveries"
        actions={
          isOpen ? (
            <ButtonLink href={paths.redeliver} dialog>
              Redeliver failed deliveries
            </ButtonLink>
          ) : undefined
        }
      >
        <DeliveryList view={view} now={now} />
      </Section>
    </>
  );
}

/** Settings and health of an endpoint, without secrets. */
function WebhookFacts({ view, now }: { view: WebhookView; now: number }) {
  const { record, page, backlog, failure } = view;
  const { row, successRate, confirmedAt } = record;
  const isMail = row.format === "email";
  const { url, settings: shown, secret_settings: secrets } = presentWebhook(record);
  const settings = new Map(Object.entries(shown));
  const isEverything = row.events.includes(ANY_EVENT);
  return (
    <Facts
      items={[
        { label: "State", value: <WebhookState record={record} /> },
        { label: "Succeeded, last 24 hours", value: <SuccessRate rate={successRate} /> },
        { label: "Pending", value: <Waiting backlog={backlog} now={now} /> },
        { label: "Last error", value: <LastError failure={failure} now={now} /> },
        isMail
          ? { label: "Address", value: <bdi>{recipientOf(url)}</bdi>, isWide: true }
          : { label: "URL", value: <code>{url}</code>, isWide: true },
        { label: "Format", value: FORMATS[row.format].label },
        ...settingsOf(row.format)
          .filter(({ name }) => settings.has(name) || secrets.includes(name))
          .map(({ name, label, isSecret }) => ({
            label,
            value: isSecret ? "Set, not shown" : String(settings.get(name)),
          })),
        {
          label: "Page",
          value: page === null ? "All pages" : <a href={pagePath(page.id)}>{page.name}</a>,
        },
        {
          label: "Events",
          isWide: true,
          value: isEverything ? (
            "All events, including future types"
          ) : (
            <EventChips events={row.events} />
          ),
        },
        { label: "Monitors", value: <Monitors view={view} />, isWide: true },
        ...(isForPeople(row.format)
          ? [{ label: "Messages about monitors", value: gatheringText(row.groupSeconds) }]
          : []),
        isMail
          ? { label: "Confirmed", value: <Confirmed at={confirmedAt} now={now} /> }
          : { label: "Signing secret", value: <SecretInForce view={view} now={now} /> },
        { label: "Created", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
        { label: "Changed", value: <RelativeTime at={toIso(row.updatedAt)} now={now} /> },
        { label: "Id", value: <code>{row.id}</code>, isWide: true },
      ]}
    />
  );
}

function gatheringText(seconds: number): string {
  return seconds === 0 ? "Each by itself" : `Gathered for ${seconds} s`;
}

function Confirmed({ at, now }: { at: number | null; now: number }) {
  return at === null ? <>Not yet</> : <RelativeTime at={toIso(at)} now={now} />;
}

/** Maximum number of monitors listed by name. */
const MONITORS_SHOWN = 20;

/** Monitors whose events are sent. */
function Monitors({ view: { monitors, page } }: { view: WebhookView }) {
  if (monitors === null) return <>All monitors, including new ones</>;
  if (monitors.length === 0) return <>None</>;
  const outside = monitors.filter(({ isOutside }) => isOutside);
  return (
    <>
      <MonitorChips monitors={monitors.filter(({ isOutside }) => !isOutside)} />
      {outside.length === 0 ? null : (
        <CellNote>
          Not sent, since their events are not of the page {page?.name}:{" "}
          <MonitorChips monitors={outside} />
        </CellNote>
      )}
    </>
  );
}

function MonitorChips({ monitors }: { monitors: readonly { id: string; name: string }[] }) {
  const more = monitors.length - MONITORS_SHOWN;
  return (
    <Chips>
      {monitors.slice(0, MONITORS_SHOWN).map(({ id, name }) => (
        <a key={id} class="chip" href={monitorPath(id)}>
          {name}
        </a>
      ))}
      {more > 0 ? <span class="note-inline">and {more.toLocaleString("en")} more</span> : null}
    </Chips>
  );
}

function EventChips({ events }: { events: readonly string[] }) {
  return (
    <Chips>
      {events.map((type) => (
        <Chip key={type} isCode>
          {type}
        </Chip>
      ))}
    </Chips>
  );
}

function SecretInForce({ view: { record }, now }: { view: WebhookView; now: number }) {
  const { previousSecret, previousSecretEndsAt: endsAt } = record.row;
  if (previousSecret === null || endsAt === null || endsAt <= now) return <>1 active secret</>;
  return (
    <>
      2 active secrets; the old one stops <RelativeTime at={toIso(endsAt)} now={now} />
    </>
  );
}
