import type { Match } from "./route-table";

/** OPTIONS on a path that other origins may read; everywhere else it is a method not allowed. */
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
