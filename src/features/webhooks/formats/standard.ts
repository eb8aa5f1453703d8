import { Type } from "@sinclair/typebox";
import type { RecordedEvent } from "../../../events/outbox";
import { toIso } from "../../../base/time";
import { type Format, jsonMessage } from "./format";

/** The payload that Standard Webhooks 1.0 recommends. */
interface Envelope {
  type: string;
  /** Time of the event, ISO 8601. The header `webhook-timestamp` has the time of the attempt. */
  timestamp: string;
  data: Record<string, unknown>;
}

function envelopeOf({ type, at, data }: RecordedEvent): Envelope {
  return { type, timestamp: toIso(at), data };
}

/** Standard Webhooks 1.0: the event as JSON, for programs. */
export const standard: Format = {
  name: "standard",
  label: "Standard Webhooks",
  hint: "A URL of your program. Requests are signed; standardwebhooks.com lists libraries that verify them.",
  settings: Type.Object({}, { additionalProperties: false }),
  pace: [],
  validate: () => [],
  write: (event) => jsonMessage(envelopeOf(event)),
};
