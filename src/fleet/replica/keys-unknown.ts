import { type Problem, unavailable } from "../../base/errors";

const KEYS_RETRY_AFTER_SECONDS = 2;

export const KEYS_UNKNOWN = "This node cannot know at the moment if keys were revoked. Try again.";

/** Returns the answer to a read by a key that may have been revoked on another node. */
export function keysUnknown(): Problem {
  return unavailable(KEYS_UNKNOWN, KEYS_RETRY_AFTER_SECONDS);
}
