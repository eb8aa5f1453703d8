import type { Charge } from "../features/limits";
import type { Admission } from "./admission";

const EXPOSED =
  "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

/**
 * Gives an answer the headers that tell of its request: the request's id, and the state of the bucket
 * that paid (draft-ietf-httpapi-ratelimit-headers, and the older X-RateLimit ones, whose Reset is in
 * epoch seconds).
 */
export function stamp(headers: Headers, { requestId, charge, now }: Admission): void {
  headers.set("X-Request-Id", requestId);
  if (!charge) return;
  headers.set("RateLimit-Policy", policyHeader(charge));
  headers.set("RateLimit", useHeader(charge));
  headers.set("X-RateLimit-Limit", String(charge.decision.limit));
  headers.set("X-RateLimit-Remaining", String(charge.decision.remaining));
  headers.set("X-RateLimit-Reset", String(resetAt(charge, now)));
}

export function policyHeader({ policy, decision }: Charge): string {
  return `"${policy}";q=${decision.limit};w=60`;
}

export function useHeader({ policy, decision }: Charge): string {
  return `"${policy}";r=${decision.remaining};t=${decision.fullInSeconds}`;
}

/** When the bucket is full again, in epoch seconds. */
export function resetAt({ decision }: Charge, nowMs: number): number {
  return Math.ceil(nowMs / 1_000) + decision.fullInSeconds;
}

/** The headers that do not change from one answer of a kind to the next. */
export function stampOnce(headers: Headers, isCrossOrigin: boolean): void {
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", "same-origin");
  if (isCrossOrigin) {
    headers.set("Access-Control-Allow-Origin", "*");
    headers.set("Access-Control-Expose-Headers", EXPOSED);
  }
}
