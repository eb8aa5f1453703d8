import type { RecordedEvent } from "../../events";
import { toIso } from "../../kernel/time";

/** The payload that Standard Webhooks 1.0 recommends. */
export interface Envelope {
  type: string;
  /** Time of the event, ISO 8601. The time of the attempt is in the header `webhook-timestamp`. */
  timestamp: string;
  data: Record<string, unknown>;
}

export function envelopeOf({ type, at, data }: RecordedEvent): Envelope {
  return { type, timestamp: toIso(at), data };
}
