import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../../context";
import { findTokenOwner, isFromOutside, type RequestContext } from "../../http/request-context";
import { operation } from "../../http/operation";
import { queryOf, segmentsOf } from "../../http/request-url";
import type { RequestContexts } from "../../http/elysia";
import { sendPlainText } from "../../http/answers";
import type { ImportedToken } from "../monitors/heartbeat-tokens";
import { messageOf } from "../monitors/signal-text";
import type { Monitoring } from "../monitors/monitoring";
import { readGoDuration } from "../../base/go-duration";
import { OneOf } from "../../base/schema";
import { findKeptKey } from "./store";

const MESSAGE_MAX = 1_000;
/** Durations of Go, such as `1m30s`, as far as a pattern describes them. */
const GO_DURATION = "^[0-9.]+(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*$";
const PATH = "/api/v1/endpoints/:key/external";
const SCHEME = "Bearer ";

/**
 * `POST …/endpoints/{key}/external` of Gatus, for jobs that report the results of external endpoints. Its
 * checks have the order of Gatus.
 */
export function gatusResultRoutes(
  ctx: Ctx,
  requestContexts: RequestContexts,
  monitoring: Monitoring,
) {
  async function take({
    request,
    requestContext,
  }: {
    request: Request;
    requestContext: RequestContext;
  }) {
    const query = queryOf(request);
    const success = query.get("success");
    if (success !== "true" && success !== "false") {
      return sendPlainText(400, "missing or invalid success query parameter");
    }
    const header = request.headers.get("authorization") ?? "";
    if (!header.startsWith(SCHEME)) return sendPlainText(401, "invalid Authorization header");
    const { key, token } = credentialsOf(request);
    if (token === "") return sendPlainText(401, "bearer token must not be empty");
    const owner = findTokenOwner(requestContext);
    if (!owner) {
      // Keys of other pages are answered as keys that do not exist, since they contain names.
      return findKeptKey(ctx.db, { key })
        ? sendPlainText(401, "invalid token")
        : sendPlainText(404, "not found");
    }
    const duration = query.get("duration") || "0";
    const read = readGoDuration(duration);
    if ("error" in read) return sendPlainText(400, `invalid duration: ${read.error}`);
    const isFailed = success === "false";
    await monitoring.heartbeat(owner.monitorId, {
      outcome: isFailed ? "failed" : "ok",
      latencyMs: read.ms > 0 ? Math.round(read.ms) : null,
      message: isFailed ? messageOf(query.get("error") ?? "", MESSAGE_MAX).message : null,
      token: owner.token,
      isFromOutside: isFromOutside(requestContext),
    });
    return sendPlainText(200, "");
  }

  const routes = new Elysia().use(requestContexts.plugin);
  routes.post(PATH, take, declare("postGatusResult"));
  routes.post(`/compat/gatus${PATH}`, take, declare(undefined));
  routes.post(`/compat/gatus/:slug${PATH}`, take, declare(undefined));
  return routes;
}

function declare(id: string | undefined) {
  const text = (description: string) => ({
    description,
    schema: Type.String(),
    mediaType: "text/plain",
  });
  return operation({
    id,
    summary: "Record a result as in Gatus",
    description:
      "For jobs of imported monitors, with the key of the endpoint in the path and its token as bearer. Also below `/compat/gatus` and `/compat/gatus/{slug}`.",
    tag: "Heartbeats",
    access: { kind: "imported-heartbeat", tokensOf, isBearer: true },
    path: {
      key: Type.String({
        description: "The key of the endpoint: its group and name as Gatus writes them.",
        examples: ["core_backup"],
      }),
    },
    query: Type.Object({
      success: OneOf(["true", "false"], { description: "False for a failure." }),
      error: Type.Optional(
        Type.String({
          description: `Message of a failure, of which ${MESSAGE_MAX.toLocaleString("en")} characters are kept.`,
        }),
      ),
      duration: Type.Optional(
        Type.String({
          pattern: GO_DURATION,
          description: "Duration of the run.",
          examples: ["1.5s"],
        }),
      ),
    }),
    onCustomDomain: "shared",
    errors: ["unavailable"],
    answers: {
      200: text("The result was stored."),
      400: text("`success` is missing, or `duration` is not valid."),
      401: text("The token is missing or wrong."),
      404: text("There is no such endpoint."),
    },
  });
}

/** Returns the key in the path and the token, which is everything after the scheme. */
function credentialsOf(request: Request): { key: string; token: string } {
  const header = request.headers.get("authorization") ?? "";
  return { key: segmentsOf(request).at(-2) ?? "", token: header.slice(SCHEME.length).trim() };
}

/** Returns the token of a result, which is valid for one key only; none without a token. */
function tokensOf(request: Request): ImportedToken[] {
  const header = request.headers.get("authorization");
  if (!header?.startsWith(SCHEME)) return [];
  const { key, token } = credentialsOf(request);
  return [{ kind: "gatus", value: `${key}\0${token}` }];
}
