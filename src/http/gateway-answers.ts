import { notFound, Problem } from "../errors";
import { type Charge, POLICIES } from "../features/limits";
import { plural } from "../kernel/text";

/*
 * What the front door refuses by itself, before any handler is asked.
 */

export function badHost(): Problem {
  return new Problem(
    "invalid_request",
    "The Host header is empty, is not a host, or was sent twice.",
  );
}

export function noRoute(method: string, allowed: readonly string[]): Problem {
  if (allowed.length === 0) return notFound("path");
  const list = allowed.join(", ");
  return new Problem(
    "method_not_allowed",
    `${method} is not a method of this path; it answers ${list}.`,
    { headers: { Allow: list } },
  );
}

export function rateLimited({ policy, decision }: Charge): Problem {
  const seconds = decision.retryAfterSeconds;
  return new Problem(
    "rate_limited",
    `The limit of ${decision.limit} requests a minute for ${POLICIES[policy].whose} is used up. Try again in ${plural(seconds, "second")}.`,
    { headers: { "Retry-After": String(seconds) } },
  );
}

export function tooManyBodies(): Problem {
  return new Problem(
    "rate_limited",
    "Too many request bodies are on their way. Try again in 1 second.",
    { headers: { "Retry-After": "1" } },
  );
}
