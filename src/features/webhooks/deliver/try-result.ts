import type { RefusedMessage } from "../rules";

/** Refusal of an attempt. */
interface RefusedTry extends RefusedMessage {
  /** True for a test event, which is attempted once: the refusal is its result. */
  isFinal: boolean;
}

/** Result of an attempt. */
export interface TryResult {
  /** Start in unix ms. */
  at: number;
  latencyMs: number;
  /** Null without a response; then `error` gives the reason. */
  statusCode: number | null;
  error: string | null;
  /** First 20 KB of the response, if it was text. */
  answer: string | null;
  /** Set if the receiver refused the message for now. */
  refused?: RefusedTry | undefined;
  /** Ids of the deliveries that were sent, oldest first: several in a group. Absent for that of the attempt. */
  members?: readonly string[];
  /** Set if no retry can succeed, with the reason for disabling the endpoint if there is one. */
  permanent?: { reason?: string };
}

/** Reason for which no attempt was made. */
export type NoTry =
  /** The delivery has ended, or its endpoint is disabled or deleted. */
  | "ended"
  /** The endpoint's format has no message for the event. */
  | "no_message"
  /** A fault of this server prevented the attempt. */
  | "local_fault"
  /** Its mail is queued or being sent. */
  | "awaits_mail";

/** Returns true for a refused attempt that does not count: the delivery waits for the end of the pause. */
export function isPutOff({ refused }: TryResult): boolean {
  return refused?.isFinal === false;
}
