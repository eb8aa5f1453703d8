import type { RecordedEvent } from "../../src/events/outbox";
import type { FormatContext, Message } from "../../src/features/webhooks/formats/format";
import { FORMATS } from "../../src/features/webhooks/formats";
import type { WebhookFormat } from "../../src/base/webhook";

/** Example destination of each format, with a URL as in the service's documentation. */
export const DESTINATIONS: Record<WebhookFormat, Pick<FormatContext, "url" | "settings">> = {
  standard: { url: "https://receiver.example.com/hooks", settings: {} },
  statuspage: { url: "https://receiver.example.com/hooks", settings: {} },
  "uptime-kuma": {
    url: "https://receiver.example.com/hooks",
    settings: { headers: '{"X-Key": "1234"}' },
  },
  slack: { url: "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXX", settings: {} },
  discord: { url: "https://discord.com/api/webhooks/223704706495545344/3d89bb75", settings: {} },
  ntfy: { url: "https://ntfy.sh/acme-status", settings: { token: "tk_AgQdq7mVBoFD37zQVN29" } },
  gotify: { url: "https://gotify.example.com", settings: { token: "AWnhsVvNnMtXp3q" } },
  telegram: {
    url: "https://api.telegram.org",
    settings: { bot_token: "123456:ABC-DEF1234ghIkl", chat_id: "-1001234567890" },
  },
  teams: {
    url: "https://prod-00.westus.logic.azure.com/workflows/0/triggers/manual/paths/invoke",
    settings: {},
  },
  email: { url: "mailto:oncall@example.com", settings: {} },
  template: {
    url: "https://receiver.example.com/api/{secret.TEAM}/messages?id={id}",
    settings: {
      method: "POST",
      headers: { Authorization: "Bearer {secret.TOKEN}", "X-Title": "{title}" },
      body: '{"title": "{title}", "text": "{text}", "status": "{status}", "tone": "{tone}", "url": "{url}", "page": "{page}", "components": "{components}", "event": "{event}", "time": "{time}", "key": "{key}"}',
      secrets: { TEAM: "T01", TOKEN: "quite-private-token" },
    },
  },
};

export function contextFor(name: WebhookFormat): FormatContext {
  return {
    ...DESTINATIONS[name],
    messageId: "evt_1",
    pageName: "Acme",
    pageUrl: "https://status.test/status/acme",
    baseUrl: "https://status.test",
    statusOf: () => undefined,
  };
}

export function writeFor(
  name: WebhookFormat,
  event: RecordedEvent,
  context: Partial<FormatContext> = {},
): Message | undefined {
  return FORMATS[name].write(event, { ...contextFor(name), ...context });
}

/** Returns the parsed body of a message. Throws if the format does not send the event. */
// Tests read bodies freely, as they do answers.
// oxlint-disable-next-line typescript/no-explicit-any
export function bodyFor(name: WebhookFormat, event: RecordedEvent): any {
  const message = writeFor(name, event);
  if (!message) throw new Error(`${name} has no message for ${event.type}`);
  return name === "email" ? { text: message.body } : JSON.parse(message.body);
}

/** Returns an event of an opened incident with this name and text. */
export function incidentEvent(name: string, body: string, more: object = {}): RecordedEvent {
  const data = {
    name,
    status: "investigating",
    impact: "major",
    components: [{ id: "cmp_1", name, status: "partial_outage" }],
    url: "https://status.test/status/acme/incidents/inc_1",
    latest_update: { id: "upd_1", status: "investigating", body, components: [] },
    notify: true,
    ...more,
  };
  return {
    id: "evt_1",
    type: "incident.created",
    pageId: "page_1",
    subjectId: "inc_1",
    data,
    at: Date.parse("2026-03-10T12:00:00.000Z"),
  };
}

/** Returns all texts in a parsed body, at any depth. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
