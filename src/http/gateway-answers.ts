/* Answers that the gateway gives by itself, before any handler runs. */
import { notFound, Problem, unavailable } from "../base/errors";
import { plural } from "../base/text";
import { type Charge, POLICIES } from "../features/limits/limiter";
import type { Match } from "./route-table";

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
    `${method} is not a method of this path. Its methods are ${list}.`,
    { headers: { Allow: list } },
  );
}

export function rateLimited({ policy, decision }: Charge): Problem {
  const seconds = decision.refillInSeconds;
  return new Problem(
    "rate_limited",
    `The limit of ${decision.limit} requests a minute for ${POLICIES[policy].subject} is used up. Try again in ${plural(seconds, "second")}.`,
    { headers: { "Retry-After": String(seconds) } },
  );
}

export function tooManyBodies(): Problem {
  return new Problem(
    "rate_limited",
    "The server is receiving too many request bodies. Try again in 1 second.",
    { headers: { "Retry-After": "1" } },
  );
}

export function overloaded(): Problem {
  return unavailable("The server is receiving too many request bodies; try again.", 1);
}

/** Returns true for OPTIONS on a path that other origins may read. Elsewhere the method is not allowed. */
export function isPreflight(
  request: Request,
  match: Match,
): match is { route: undefined; allowed: readonly string[] } {
  return !match.route && request.method === "OPTIONS" && match.allowed.includes("OPTIONS");
}

export function preflight(allowed: readonly string[]): Response {
  const list = allowed.join(", ");
  return new Response(null, {
    status: 204,
    headers: {
      Allow: list,
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": list,
      "Access-Control-Allow-Headers": "If-None-Match",
      "Access-Control-Max-Age": "86400",
    },
  });
}
