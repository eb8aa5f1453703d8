import fc from "fast-check";
import { EVENTS, type EventType } from "../../src/events/outbox";
import type { CreateWebhookBody } from "../../src/features/webhooks/wire";
import { DescriptionText } from "../../src/base/texts";
import type { WebhookFormat } from "../../src/base/webhook";
import { textOf } from "./arbitrary-text";

/** Secret of webhooks that no file may contain. */
export const WEBHOOK_SECRET = "s3cret-4-webhooks";

type Reach = Pick<CreateWebhookBody, "url" | "settings">;

const at = (...urls: string[]): fc.Arbitrary<Reach> =>
  fc.constantFrom(...urls).map((url) => ({ url }));

/** URLs and settings by format. Some are rejected, such as private addresses. */
const reaches: Record<WebhookFormat, fc.Arbitrary<Reach>> = {
  standard: at(
    "https://a.example/hook?of=${A}",
    "http://192.0.2.1:81/#x",
    "https://münchen.example",
  ),
  statuspage: at("https://b.example/statuspage", "http://10.0.0.1/"),
  "uptime-kuma": fc.record({
    url: fc.constantFrom("https://c.example/kuma", "http://10.0.0.2/"),
    settings: fc.constantFrom({}, { headers: `{"X-Key": "${WEBHOOK_SECRET}"}` }),
  }),
  slack: at(
    `https://hooks.slack.com/services/T0/B0/${WEBHOOK_SECRET}`,
    `https://chat.example/hooks/${WEBHOOK_SECRET}`,
  ),
  discord: at(`https://discord.com/api/webhooks/1/${WEBHOOK_SECRET}`),
  teams: at(`https://prod.example/workflows/w0?sig=${WEBHOOK_SECRET}`),
  // Rejected, since the relay is missing.
  email: at("mailto:oncall@a.example"),
  ntfy: fc.record({
    url: fc.constantFrom("https://ntfy.sh/acme", "https://ntfy.sh/other"),
    settings: fc.constantFrom({}, { token: WEBHOOK_SECRET }),
  }),
  gotify: fc.record({
    url: fc.constantFrom("https://gotify.example", "https://gotify.example/base"),
    settings: fc.constantFrom({ token: WEBHOOK_SECRET }, { token: `${WEBHOOK_SECRET}-2` }),
  }),
  telegram: fc.record({
    url: fc.constant("https://api.telegram.org"),
    settings: fc.constantFrom(
      { bot_token: `12:${WEBHOOK_SECRET}`, chat_id: "@acme" },
      { bot_token: `12:${WEBHOOK_SECRET}`, chat_id: "-100123", message_thread_id: 7 },
    ),
  }),
  template: fc.record({
    url: fc.constantFrom("https://d.example/{secret.KEY}", "https://e.example/a?id={id}"),
    settings: fc.constantFrom<Record<string, unknown>[]>(
      { method: "POST", body: "{secret.KEY}", secrets: { KEY: WEBHOOK_SECRET } },
      {
        method: "PUT",
        headers: { Authorization: "Bearer {secret.KEY}", "Content-Type": "application/json" },
        body: '{"text": "{text}"}',
        resolve_body: '{"key": "{key}"}',
        text_limit: 500,
        secrets: { KEY: `${WEBHOOK_SECRET}-2` },
      },
    ),
  }),
};

const events = fc.oneof(
  fc.constant<["*"]>(["*"]),
  fc.subarray(Object.keys(EVENTS) as EventType[], { minLength: 1, maxLength: 3 }),
);

const more = fc.record(
  {
    description: fc.option(textOf(DescriptionText, 30)),
    events,
    group_seconds: fc.constantFrom(0, 30, 45, 300),
    enabled: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Input for an endpoint of any format, without its page. */
export const arbitraryWebhook: fc.Arbitrary<Omit<CreateWebhookBody, "page">> = fc
  .constantFrom(...(Object.keys(reaches) as WebhookFormat[]))
  .chain((format) => fc.tuple(fc.constant(format), reaches[format], more))
  .map(([format, reach, others]) => ({ format, ...reach, ...others }));
