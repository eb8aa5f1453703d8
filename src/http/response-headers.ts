import type { PolicyName } from "../features/limits";
import type { RequestContext } from "./request-context";

const EXPOSED =
  "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

/**
 * Headers that tell of a request: its id, and the state of the bucket that paid
 * (draft-ietf-httpapi-ratelimit-headers, and the older X-RateLimit ones, whose Reset is in epoch
 * seconds).
 *
 * Bytes that are sent many times keep one of these and write it over at each answer, which costs half
 * of a new one: `Response` copies it at once, so that no other request can come between. What has not
 * changed since the answer before is not set again. Either all of its answers are paid for from a
 * bucket, or (files) none: what one caller was told of a bucket stays until the next is told.
 */
export class ReusedHeaders {
  readonly #headers: Headers;
  #policy: PolicyName | undefined;
  #limit = 0;
  #resetAt = 0;

  constructor(headers: Headers) {
    this.#headers = headers;
  }

  /** The headers for this answer, valid until the next one's are asked for. */
  for({ requestId, charge, now }: RequestContext): Headers {
    const headers = this.#headers;
    headers.set("X-Request-Id", requestId);
    if (!charge) return headers;
    const { policy, decision } = charge;
    if (policy !== this.#policy || decision.limit !== this.#limit) {
      this.#policy = policy;
      this.#limit = decision.limit;
      headers.set("RateLimit-Policy", `"${policy}";q=${decision.limit};w=60`);
      headers.set("X-RateLimit-Limit", String(decision.limit));
    }
    const remaining = String(decision.remaining);
    headers.set("RateLimit", `"${policy}";r=${remaining};t=${decision.fullInSeconds}`);
    headers.set("X-RateLimit-Remaining", remaining);
    const resetAt = Math.ceil(now / 1_000) + decision.fullInSeconds;
    if (resetAt !== this.#resetAt) {
      this.#resetAt = resetAt;
      headers.set("X-RateLimit-Reset", String(resetAt));
    }
    return headers;
  }
}

/** Gives one answer the headers that tell of its request. */
export function setRequestHeaders(headers: Headers, requestContext: RequestContext): void {
  new ReusedHeaders(headers).for(requestContext);
}

/** The headers that do not change from one answer of a kind to the next. */
export function setFixedHeaders(headers: Headers, isCrossOrigin: boolean): void {
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", "same-origin");
  if (isCrossOrigin) {
    headers.set("Access-Control-Allow-Origin", "*");
    headers.set("Access-Control-Expose-Headers", EXPOSED);
  }
}
