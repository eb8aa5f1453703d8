import { Problem } from "../base/errors";
import type { BodyBudget } from "./body-budget";
import { bodyHeadersProblem, isChunked } from "./declared-body";
import { toProblem } from "./problems";
import type { GatewayContext } from "./request-context";
import { repeatedParameterProblem, type SplitUrl } from "./request-url";
import type { Route } from "./route-table";

/**
 * Checks query and body headers, reserves room for the body, and runs `beforeBody`. Returns the answer
 * to a request whose body is not read; undefined if it is to be handled.
 */
export function answerUnread(
  context: GatewayContext,
  url: SplitUrl,
  { body, operation, query }: Route,
  bodies: BodyBudget,
): Response | Problem | undefined {
  try {
    return (
      repeatedParameterProblem(query, url.query) ??
      (body
        ? (bodyHeadersProblem(context.request.headers, body) ?? bodies.reserve(context, body))
        : undefined) ??
      operation.beforeBody?.(context.request, context.address)
    );
  } catch (error) {
    return toProblem(error);
  }
}

/** Closes the connection after an answer to a request whose body was not read to its end. */
export function closeUnread({ body, request }: GatewayContext, response: Response): Response {
  if (body ? body.isUnread : isChunked(request.headers)) {
    response.headers.set("Connection", "close");
  }
  return response;
}
