import { OptionalKind, type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { EVENTS, type EventType } from "../../events/outbox";
import { DescriptionText } from "../../base/texts";
import { Nullable, OneOf, Text } from "../../base/schema";
import { capitalised } from "../../base/text";
import { ANY_EVENT, GROUP_SECONDS, WEBHOOK_FORMATS } from "../../base/webhook";
import { FORMATS } from "./formats";

/* Bodies of requests about webhooks. Settings come from the formats. */

const URL_MAX = 2_000;
const SECRET_MAX = 200;
/** Maximum number of monitors that a webhook names. */
export const MONITORS_MAX = 1_000;
/** Maximum length of an id or ref. */
const REFERENCE_MAX = 100;
/** Maximum number of settings in a body, more than any format has. */
const SETTINGS_MAX = 50;

export const WebhookFormatText = OneOf(WEBHOOK_FORMATS, {
  title: "WebhookFormat",
  description: WEBHOOK_FORMATS.map((name) => `${name}: ${FORMATS[name].hint}`).join(" "),
});

const FILTERS = [ANY_EVENT, ...(Object.keys(EVENTS) as EventType[])];
const EventFilter = Type.Array(OneOf(FILTERS), {
  minItems: 1,
  maxItems: FILTERS.length,
  uniqueItems: true,
  description: 'Event types that are sent, or ["*"] for all types, including future ones.',
  examples: [["incident.created", "incident.resolved"]],
});

const WritableFields = Type.Object({
  url: Text({
    minLength: 1,
    maxLength: URL_MAX,
    description:
      "http or https, without user info; for `email`, mailto: and one address. URLs of Slack, Discord and Teams are secrets and are shown without their end.",
    examples: ["https://example.com/hooks/allclear"],
  }),
  description: Nullable(DescriptionText),
  events: EventFilter,
  page: Nullable(
    Text({
      minLength: 1,
      maxLength: 100,
      description: "A page's slug or id: only events of this page are sent. Null for all pages.",
    }),
  ),
  monitors: Type.Array(Text({ minLength: 1, maxLength: REFERENCE_MAX }), {
    uniqueItems: true,
    maxItems: MONITORS_MAX,
    description:
      'Monitors, by id or ref, whose `monitor.*` events are sent, or ["*"] for all, including future ones. Other events are not affected.',
    examples: [["mon_01kah2v9w0e0rs6x0h3ye0a1bc", "checkout-api"]],
  }),
  format: WebhookFormatText,
  group_seconds: Type.Integer({
    minimum: 0,
    maximum: GROUP_SECONDS.max,
    description: `Time after a message about monitors in which further ones wait to be sent as one, for formats for people. 0 sends each by itself. Default: ${GROUP_SECONDS.default}.`,
  }),
  enabled: Type.Boolean({ description: "False to send no events. Default: true." }),
});

/** Returns the schema of settings: one of the formats' shapes. The format itself validates them. */
function SettingsOf(shapes: readonly TSchema[], description: string) {
  return Type.Optional(
    Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { anyOf: shapes, maxProperties: SETTINGS_MAX, description }),
    ),
  );
}

const SHAPES = [
  Type.Object({}, { additionalProperties: false, title: "NoSettings" }),
  ...WEBHOOK_FORMATS.map((name) => {
    const title = `${name.split("-").map(capitalised).join("")}Settings`;
    return Type.Object((FORMATS[name].settings as TObject).properties, {
      additionalProperties: false,
      title,
    });
  }).filter(({ properties }) => Object.keys(properties).length > 0),
];

/** Returns the schema of changed settings: null clears an optional one. */
function changeOf({ properties, title }: TObject): TSchema {
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    Type.Optional(OptionalKind in schema ? Nullable(schema) : schema),
  ]);
  return Type.Object(Object.fromEntries(fields), {
    additionalProperties: false,
    title: `Update${title}`,
  });
}

const { url: Url, ...Others } = WritableFields.properties;
const Optional = Type.Partial(Type.Object(Others)).properties;

export const CreateWebhookBody = Type.Object(
  {
    url: Url,
    ...Optional,
    settings: SettingsOf(
      SHAPES,
      "Further settings of the format; most formats have none. Tokens are never returned.",
    ),
    secret: Type.Optional(
      Text({
        maxLength: SECRET_MAX,
        description:
          "Signing secret: `whsec_` and the base64 of 24 to 64 bytes. Default: a generated one.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ url: "https://example.com/hooks/allclear", events: ["incident.created"] }],
  },
);
export type CreateWebhookBody = Static<typeof CreateWebhookBody>;

export const UpdateWebhookBody = Type.Object(
  {
    url: Type.Optional(Url),
    ...Optional,
    settings: SettingsOf(
      SHAPES.map(changeOf),
      "Omitted settings keep their values, including tokens; null clears an optional one. Another format starts without settings.",
    ),
  },
  { additionalProperties: false, minProperties: 1, examples: [{ enabled: false }] },
);
export type UpdateWebhookBody = Static<typeof UpdateWebhookBody>;
