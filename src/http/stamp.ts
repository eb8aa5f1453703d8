import type { Charge } from "../features/limits";
import type { Admission } from "./admission";

const EXPOSED =
  "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

/**
 * Gives an answer the headers that every answer carries: the request's id, the state of the bucket
 * that paid (draft-ietf-httpapi-ratelimit-headers, and the older X-RateLimit ones, whose Reset is in
 * epoch seconds), and the security headers.
 */
export function stamp(headers: Headers, admission: Admission, nowMs: number): void {
  if (admission.charge) stampLimit(headers, admission.charge);
  stampUse(headers, admission, nowMs);
}

/** The headers that change with whose bucket pays, but not from one of its requests to the next. */
export function stampLimit(headers: Headers, charge: Charge): void {
  headers.set("RateLimit-Policy", policyHeader(charge));
  headers.set("X-RateLimit-Limit", String(charge.decision.limit));
}

/** The headers that differ from one answer to the next. */
export function stampUse(headers: Headers, admission: Admission, nowMs: number): void {
  const { charge, requestId } = admission;
  headers.set("X-Request-Id", requestId);
  if (!charge) return;
  const { decision } = charge;
  headers.set(
    "RateLimit",
    `"${charge.policy}";r=${decision.remaining};t=${decision.fullInSeconds}`,
  );
  headers.set("X-RateLimit-Remaining", String(decision.remaining));
  headers.set("X-RateLimit-Reset", String(Math.ceil(nowMs / 1_000) + decision.fullInSeconds));
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

function policyHeader({ policy, decision }: Charge): string {
  return `"${policy}";q=${decision.limit};w=60`;
}
