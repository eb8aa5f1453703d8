import type { RecordedEvent } from "../../events";
import { toIso } from "../../kernel/time";

/** The payload that Standard Webhooks 1.0 recommends. */
export interface Envelope {
  type: string;
  /** When it happened, ISO 8601; the moment of the try is in the header `webhook-timestamp`. */
  timestamp: string;
  data: Record<string, unknown>;
}

export function envelopeOf({ type, at, data }: RecordedEvent): Envelope {
  return { type, timestamp: toIso(at), data };
}
