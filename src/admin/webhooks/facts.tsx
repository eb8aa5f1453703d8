import { ANY_EVENT, FORMATS, presentWebhook } from "../../features/webhooks";
import { toIso } from "../../kernel/time";
import { Chip, Chips, Facts, RelativeTime } from "../../ui";
import { pagePath } from "../paths";
import { LastError, SuccessRate, Waiting, WebhookState } from "./health";
import { settingsOf } from "./setting-fields";
import type { WebhookView } from "./webhook-view";

/** Settings and health of an endpoint, without secrets. */
export function WebhookFacts({ view, now }: { view: WebhookView; now: number }) {
  const { record, page, backlog, failure } = view;
  const { row, successRate } = record;
  const { url, settings: shown, secret_settings: secrets } = presentWebhook(record);
  const settings = new Map(Object.entries(shown));
  const isEverything = row.events.includes(ANY_EVENT);
  return (
    <Facts
      items={[
        { label: "State", value: <WebhookState row={row} /> },
        { label: "Succeeded, last 24 hours", value: <SuccessRate rate={successRate} /> },
        { label: "Waiting", value: <Waiting backlog={backlog} now={now} /> },
        { label: "Last error", value: <LastError failure={failure} now={now} /> },
        { label: "URL", value: <code>{url}</code>, isWide: true },
        { label: "Format", value: FORMATS[row.format].label },
        ...settingsOf(row.format)
          .filter(({ name }) => settings.has(name) || secrets.includes(name))
          .map(({ name, label, isSecret }) => ({
            label,
            value: isSecret ? "Set, and not shown" : String(settings.get(name)),
          })),
        {
          label: "Page",
          value: page === null ? "Every page" : <a href={pagePath(page.id)}>{page.name}</a>,
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
        { label: "Secret", value: <SecretInForce view={view} now={now} /> },
        { label: "Created", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
        { label: "Changed", value: <RelativeTime at={toIso(row.updatedAt)} now={now} /> },
        { label: "Id", value: <code>{row.id}</code>, isWide: true },
      ]}
    />
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
