/**
 * A token bucket that stores the tokens spent instead of those left, so that a change of the limit
 * applies at once and a full bucket equals no bucket.
 */
export interface Bucket {
  /** Tokens spent and not yet refilled, fractional. */
  spent: number;
  /** Time at which `spent` was exact, in monotonic milliseconds. */
  at: number;
}

/** Decision about one request, with everything that its rate limit headers contain. */
export interface Decision {
  isAllowed: boolean;
  /** The bucket's capacity, which is also its refill per minute. */
  limit: number;
  /** Whole tokens left. */
  remaining: number;
  /** Whole seconds until the bucket is full again. */
  fullInSeconds: number;
  /** Whole seconds until the next token, at least 1; 0 when the request is allowed. */
  retryAfterSeconds: number;
}

const MINUTE_MS = 60_000;
// Tolerance for floating-point errors of refilling, so that a caller who waited exactly as long as
// required is accepted.
const ROUNDING = 1e-6;

/**
 * Takes one token if there is one, and writes the bucket's new state into it. `limit` is the bucket's
 * capacity and its refill per minute; `now` is monotonic.
 */
export function takeToken(bucket: Bucket, limit: number, now: number): Decision {
  let spent = spentAt(bucket, limit, now);
  const isAllowed = spent + 1 <= limit + ROUNDING;
  if (isAllowed) spent += 1;
  bucket.spent = spent;
  bucket.at = now;
  return {
    isAllowed,
    limit,
    remaining: wholeTokens(limit - spent),
    fullInSeconds: Math.ceil((spent / limit) * 60 - ROUNDING),
    retryAfterSeconds: isAllowed
      ? 0
      : Math.max(1, Math.ceil(((spent + 1 - limit) / limit) * 60 - ROUNDING)),
  };
}

/** Returns the whole tokens in a bucket at `now`, without taking one. */
export function tokensLeft(bucket: Bucket, limit: number, now: number): number {
  return wholeTokens(limit - spentAt(bucket, limit, now));
}

function spentAt(bucket: Bucket, limit: number, now: number): number {
  const refilled = Math.max(0, bucket.spent - (now - bucket.at) * (limit / MINUTE_MS));
  // After the limit was lowered, more may be spent than it allows.
  return Math.min(refilled, limit);
}

function wholeTokens(tokens: number): number {
  return Math.max(0, Math.floor(tokens + ROUNDING));
}

/** Returns the milliseconds until a bucket is full: at least 1, rounded up. */
export function timeToFullMs(bucket: Bucket, limit: number): number {
  return Math.max(1, Math.ceil((bucket.spent / limit) * MINUTE_MS));
}
