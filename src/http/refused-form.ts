import type { Problem } from "../base/errors";
import { bodyHeadersProblem, type BodyLimits, isChunked } from "./declared-body";
import type { GatewayContext } from "./request-context";
import type { Route } from "./route-table";

/** Limit of a form, in bytes, whose fields are kept while its user signs in again. */
export const KEPT_FORM_MAX_BYTES = 64 * 1024;

/** Reserves room for a body. Returns a Problem without room. */
interface Room {
  reserve(context: GatewayContext, body: BodyLimits): Problem | undefined;
}

/**
 * Reads a form that is refused because its session has ended, so that the answer can keep its fields.
 * Undefined for other requests, and for forms that are too large or cannot be read.
 */
export function readRefusedForm(
  context: GatewayContext,
  route: Route | undefined,
  { code }: Problem,
  bodies: Room,
): Promise<unknown> | undefined {
  const { request } = context;
  if (code !== "sign_in_required" || !route?.body || !route.operation.keepsTyped) return undefined;
  const { headers } = request;
  const length = Number(headers.get("content-length") ?? 0);
  if (!acceptsHtml(request) || isChunked(headers)) return undefined;
  if (!(length > 0 && length <= KEPT_FORM_MAX_BYTES)) return undefined;
  if (bodyHeadersProblem(headers, route.body) || bodies.reserve(context, route.body)) {
    return undefined;
  }
  return route.body.read(request).catch(() => {
    if (context.body) context.body.isUnread = true;
  });
}

/** Returns true if a request comes from a browser that shows pages. */
export function acceptsHtml({ headers }: Request): boolean {
  return headers.get("accept")?.includes("text/html") ?? false;
}
