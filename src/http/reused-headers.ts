import type { PolicyName } from "../features/limits";
import type { Admission } from "./admission";
import { policyHeader, resetAt } from "./stamp";

/**
 * The headers of bytes that are sent many times: one `Headers`, written over at each answer, which
 * costs half of a new one. `Response` copies it at once, so that no other request can come between.
 * What has not changed since the answer before is not set again. Either all of its answers are paid for
 * from a bucket, or (files) none: what one caller was told of a bucket stays until the next is told.
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
  for({ requestId, charge, now }: Admission): Headers {
    const headers = this.#headers;
    headers.set("X-Request-Id", requestId);
    if (!charge) return headers;
    const { policy, decision } = charge;
    if (policy !== this.#policy || decision.limit !== this.#limit) {
      this.#policy = policy;
      this.#limit = decision.limit;
      headers.set("RateLimit-Policy", policyHeader(charge));
      headers.set("X-RateLimit-Limit", String(decision.limit));
    }
    const remaining = String(decision.remaining);
    headers.set("RateLimit", `"${policy}";r=${remaining};t=${decision.fullInSeconds}`);
    headers.set("X-RateLimit-Remaining", remaining);
    const reset = resetAt(charge, now);
    if (reset !== this.#resetAt) {
      this.#resetAt = reset;
      headers.set("X-RateLimit-Reset", String(reset));
    }
    return headers;
  }
}
