import { type TSchema, Type } from "@sinclair/typebox";
import { EVENTS, type EventType } from "../../events/outbox";
import { Instant } from "../../base/schema";
import { capitalised } from "../../base/text";
import type { Json, NamedSchemas } from "./components";

/** Schemas of the data of all events. */
export type EventData = Readonly<Record<EventType, TSchema>>;

/** Headers of each request. */
const WEBHOOK_HEADERS =
  "Signed by Standard Webhooks 1.0: `webhook-id` is the id of the event, the same in every attempt, `webhook-timestamp` the time of the attempt in seconds since 1970, and `webhook-signature` is `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body. While a secret is replaced, it has two signatures with a space between them.";

/** Returns the requests that a webhook of the format `standard` receives, by the type of the event. */
export function describeWebhooks(data: EventData, schemas: NamedSchemas): Json {
  return Object.fromEntries(
    (Object.keys(EVENTS) as EventType[]).map((type) => {
      const name = type.split(/[._]/).map(capitalised).join("");
      const body = Type.Object(
        {
          type: Type.Literal(type),
          timestamp: Type.Unsafe({ ...Instant, description: "Time of the event." }),
          data: data[type],
        },
        { title: `${name}Event` },
      );
      const post = {
        operationId: `on${name}`,
        // Otherwise openapi-generator 7.14 writes an invalid module of Python that would send the events.
        "x-internal": true,
        summary: EVENTS[type],
        description: WEBHOOK_HEADERS,
        tags: ["Events"],
        security: [],
        requestBody: {
          required: true,
          content: { "application/json": { schema: schemas.refer(body) } },
        },
        responses: {
          "204": { description: "Any 2xx: the event was received. All else is a failure." },
          "410": { description: "Disables the webhook." },
        },
      };
      return [type, { post }];
    }),
  );
}
