import { type TProperties, Type } from "@sinclair/typebox";
import { readGoDuration } from "../../base/go-duration";
import { OneOf } from "../../base/schema";
import type { Ctx } from "../../context";
import { sendPlainText } from "../../http/answers";
import { beginningOf } from "../../http/body";
import { declareRoutes } from "../../http/elysia";
import { operation } from "../../http/operation";
import { NO_STORE } from "../../http/representation";
import {
  findTokenOwner,
  isFromOutside,
  queryOf,
  type RequestContext,
  segmentsOf,
} from "../../http/request-context";
import { type ImportedToken, isSameToken, ofPostOnly } from "../monitors/tokens";
import type { Monitoring } from "../monitors/monitoring";
import { meaningInBody } from "../monitors/probes/push";
import { findMeaning, messageInBody, messageOf } from "../monitors/signal-text";
import { findMonitor } from "../monitors/store";
import { findKeptKey } from "./store";

/** Methods of requests that jobs send. HEAD is answered as GET. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
/** Methods whose requests have a body that is read. */
const WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** Maximum length of Uptime Kuma's and Healthchecks' messages, in code points. */
const KUMA_MESSAGE_MAX = 1_000;
const PING_MESSAGE_MAX = 300;
/** Number of bytes of a ping's body that are read. */
const PING_BODY_BYTES = 10_000;
/** Longest duration that Uptime Kuma accepts, in ms. */
const DURATION_MAX_MS = 100_000_000_000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A call of a job. */
interface Call {
  request: Request;
  requestContext: RequestContext;
  body?: unknown;
}

/**
 * Calls of jobs that were set up for Uptime Kuma, Healthchecks or Gatus, with the tokens that an import kept.
 * The answers are those of the other product.
 */
export function importedHeartbeatRoutes(ctx: Ctx, monitoring: Monitoring) {
  const routes = declareRoutes().use(gatusResultRoutes(ctx, monitoring));

  async function push({ request, requestContext }: Call): Promise<Response> {
    const query = queryOf(request);
    const latencyMs = Number.parseFloat(query.get("ping") ?? "") || null;
    if (latencyMs !== null && (latencyMs < 0 || latencyMs > DURATION_MAX_MS)) {
      return rejectPush(`Invalid ping value. Must be between 0 and ${DURATION_MAX_MS} ms.`);
    }
    const owner = findTokenOwner(requestContext);
    const monitor = owner && findMonitor(ctx.db, { id: owner.monitorId });
    if (!monitor || monitor.paused) return rejectPush("Monitor not found or not active.");
    await monitoring.heartbeat(monitor.id, {
      outcome: (query.get("status") || "up") === "up" ? "ok" : "failed",
      latencyMs: latencyMs === null ? null : Math.round(latencyMs),
      message: messageOf(query.get("msg") ?? "", KUMA_MESSAGE_MAX).message,
      token: owner.token,
      isFromOutside: isFromOutside(requestContext),
    });
    return Response.json({ ok: true }, { headers: { "Cache-Control": NO_STORE } });
  }

  async function ping({ request, requestContext, body }: Call): Promise<Response> {
    const owner = findTokenOwner(requestContext);
    if (!owner) return sendPlainText(404, "not found");
    const { signal, token } = pingOf(request);
    const ofAddress = signal === "" ? ({ outcome: "ok" } as const) : findMeaning(signal);
    if (ofAddress === undefined) return sendPlainText(404, "not found");
    if (ofAddress === "too large") return sendPlainText(400, "invalid url format");
    const given = queryOf(request).get("rid");
    const rid = given === null ? "" : readUuid(given);
    if (rid === undefined) return sendPlainText(400, "invalid uuid format");
    const text = body instanceof Uint8Array ? messageInBody(body) : "";
    const { message } = messageOf(text, PING_MESSAGE_MAX);
    const parts = {
      rid,
      message,
      token: owner.token,
      isFromOutside: isFromOutside(requestContext),
    };
    // As there, calls of another method are answered and do not count.
    const isIgnored = request.method !== "POST" && isSameToken(owner.token, ofPostOnly(token));
    if (!isIgnored) {
      const { config = {} } = findMonitor(ctx.db, { id: owner.monitorId }) ?? {};
      // Not only of bodies in UTF-8: words are searched in what can be read.
      const readable = body instanceof Uint8Array ? new TextDecoder().decode(body) : "";
      const meaning = meaningInBody(config, ofAddress, readable);
      await monitoring.heartbeat(
        owner.monitorId,
        "kind" in meaning ? { ...meaning, ...parts } : { ...meaning, ...parts, latencyMs: null },
      );
    }
    return sendPlainText(200, "OK", { "Ping-Body-Limit": String(PING_BODY_BYTES) });
  }

  for (const method of METHODS) {
    for (const prefix of ["", "/compat/kuma"]) {
      const id = prefix === "" ? `${VERBS[method]}KumaPush` : undefined;
      routes.route(method, `${prefix}/api/push/:push`, push, declarePush(id));
    }
    for (const { path, name, parameters } of PING_PATHS) {
      routes.route(method, path, ping, {
        ...(WITH_BODY.has(method) ? beginningOf(PING_BODY_BYTES) : {}),
        ...declarePing(`${VERBS[method]}${name}`, parameters),
      });
    }
  }
  return routes;
}

/** Beginnings of the ids of operations. */
const VERBS = { GET: "send", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;

const TOKEN_OR_KEY = Type.String({
  description: "The UUID of the check, which is the credential, or the ping key of its project.",
  examples: ["6f5a1c9e-3b0d-4c5a-9d55-0f6d2b7d8c11"],
});

const SIGNAL = Type.String({
  description: "`start`, `fail`, `log`, or the exit code of the job, 0 to 255.",
  examples: ["start"],
});

/**
 * Paths of pings: of a UUID or of a key and a slug, each with a signal behind it, and the end of the ids
 * of its operations.
 */
const PING_PATHS: readonly { path: string; name: string; parameters: TProperties }[] = [
  { path: "/ping/:id", name: "Ping", parameters: { id: TOKEN_OR_KEY } },
  {
    path: "/ping/:id/:rest",
    name: "PingOfSlug",
    parameters: {
      id: TOKEN_OR_KEY,
      rest: Type.String({
        description: "Behind a key the slug of the check; behind a UUID a signal.",
        examples: ["start"],
      }),
    },
  },
  {
    path: "/ping/:id/:rest/:signal",
    name: "PingOfSlugAndSignal",
    parameters: {
      id: Type.String({ description: "The ping key of the project.", examples: ["s3cr3t"] }),
      rest: Type.String({ description: "The slug of the check.", examples: ["backup"] }),
      signal: SIGNAL,
    },
  },
];

function declarePush(id: string | undefined) {
  return operation({
    id,
    summary: "Record a heartbeat as in Uptime Kuma",
    description:
      "For jobs of monitors that were imported, with their earlier token. All methods do the same. Also below `/compat/kuma`.",
    tag: "Heartbeats",
    access: { kind: "imported-heartbeat", tokensOf: (request) => [pushTokenOf(request)] },
    path: { push: Type.String({ description: "The push token, which is the credential." }) },
    query: Type.Object({
      status: Type.Optional(
        Type.String({ description: "`up`, or any other text for a failure. Default: up." }),
      ),
      msg: Type.Optional(
        Type.String({
          description: `Message, of which ${KUMA_MESSAGE_MAX.toLocaleString("en")} characters are kept.`,
        }),
      ),
      ping: Type.Optional(
        Type.String({ description: "Duration in ms, 0 to 100,000,000,000. Ignored if no number." }),
      ),
    }),
    onCustomDomain: "shared",
    answers: {
      200: {
        description: "The heartbeat was stored.",
        schema: Type.Object({ ok: Type.Literal(true) }),
      },
      404: {
        description: "No monitor has the token, it is paused, or `ping` is too large.",
        schema: Type.Object({ ok: Type.Literal(false), msg: Type.String() }),
      },
    },
  });
}

function declarePing(id: string, path: TProperties) {
  return operation({
    id,
    summary: "Record a ping as in Healthchecks",
    description:
      "For jobs of monitors that were imported, with their earlier address: `/ping/{uuid}`, or `/ping/{key}/{slug}`. Both may be followed by `/start`, `/fail`, `/log` or an exit code. All methods do the same, unless the check accepts only POST. A body is the message, whatever its media type.",
    tag: "Heartbeats",
    access: { kind: "imported-heartbeat", tokensOf: pingTokensOf },
    path,
    query: Type.Object({
      rid: Type.Optional(
        Type.String({
          format: "uuid",
          description: "Id of the run.",
          examples: ["0c5f4c6e-6a52-4b8e-9d5e-6f2d0f3a9c11"],
        }),
      ),
    }),
    onCustomDomain: "shared",
    isCrossOrigin: true,
    answers: {
      200: {
        ...plainText("The ping was stored."),
        headers: { "Ping-Body-Limit": "Number of bytes of a body that are read." },
      },
      400: plainText("The exit code is above 255, or `rid` is no UUID."),
      404: plainText("No monitor has the address."),
    },
  });
}

/** Answer of a route that returns a plain text. */
function plainText(description: string) {
  return { description, schema: Type.String(), mediaType: "text/plain" };
}

/** Returns the tokens that an address may be: of all methods, or of POST alone. */
function pingTokensOf(request: Request): ImportedToken[] {
  const { token } = pingOf(request);
  return [token, ofPostOnly(token)];
}

function pushTokenOf(request: Request): ImportedToken {
  return { kind: "kuma", value: segmentsOf(request).at(-1) ?? "" };
}

/** Returns token and signal of a ping; an empty signal is a success. */
function pingOf(request: Request): { token: ImportedToken; signal: string } {
  const [, first = "", ...rest] = segmentsOf(request);
  const kind = "healthchecks";
  if (UUID.test(first)) {
    return { token: { kind, value: first.toLowerCase() }, signal: rest.join("/") };
  }
  const [slug = "", ...signal] = rest;
  return { token: { kind, value: `${first}/${slug}` }, signal: signal.join("/") };
}

/** Returns a UUID in its usual form from one with or without hyphens; undefined for any other text. */
function readUuid(text: string): string | undefined {
  const digits = text.replace(/^urn:uuid:|[{}-]/gi, "").toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(digits)) return undefined;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function rejectPush(msg: string): Response {
  return Response.json({ ok: false, msg }, { status: 404, headers: { "Cache-Control": NO_STORE } });
}

const GATUS_MESSAGE_MAX = 1_000;
/** Durations of Go, such as `1m30s`, as far as a pattern describes them. */
const GO_DURATION = "^[0-9.]+(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*$";
const GATUS_PATH = "/api/v1/endpoints/:key/external";
const BEARER = "Bearer ";

/**
 * `POST …/endpoints/{key}/external` of Gatus, for jobs that report the results of external endpoints. Its
 * checks have the order of Gatus.
 */
function gatusResultRoutes(ctx: Ctx, monitoring: Monitoring) {
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
    if (!header.startsWith(BEARER)) return sendPlainText(401, "invalid Authorization header");
    const { key, token } = gatusCredentialsOf(request);
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
      message: isFailed ? messageOf(query.get("error") ?? "", GATUS_MESSAGE_MAX).message : null,
      token: owner.token,
      isFromOutside: isFromOutside(requestContext),
    });
    return sendPlainText(200, "");
  }

  const routes = declareRoutes();
  routes.post(GATUS_PATH, take, declareGatusResult("postGatusResult"));
  routes.post(`/compat/gatus${GATUS_PATH}`, take, declareGatusResult(undefined));
  routes.post(`/compat/gatus/:slug${GATUS_PATH}`, take, declareGatusResult(undefined));
  return routes;
}

function declareGatusResult(id: string | undefined) {
  return operation({
    id,
    summary: "Record a result as in Gatus",
    description:
      "For jobs of imported monitors, with the key of the endpoint in the path and its token as bearer. Also below `/compat/gatus` and `/compat/gatus/{slug}`.",
    tag: "Heartbeats",
    access: { kind: "imported-heartbeat", tokensOf: gatusTokensOf, isBearer: true },
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
          description: `Message of a failure, of which ${GATUS_MESSAGE_MAX.toLocaleString("en")} characters are kept.`,
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
      200: plainText("The result was stored."),
      400: plainText("`success` is missing, or `duration` is not valid."),
      401: plainText("The token is missing or wrong."),
      404: plainText("There is no such endpoint."),
    },
  });
}

/** Returns the key in the path and the token, which is everything after the scheme. */
function gatusCredentialsOf(request: Request): { key: string; token: string } {
  const header = request.headers.get("authorization") ?? "";
  return { key: segmentsOf(request).at(-2) ?? "", token: header.slice(BEARER.length).trim() };
}

/** Returns the token of a result, which is valid for one key only; none without a token. */
function gatusTokensOf(request: Request): ImportedToken[] {
  const header = request.headers.get("authorization");
  if (!header?.startsWith(BEARER)) return [];
  const { key, token } = gatusCredentialsOf(request);
  return [{ kind: "gatus", value: `${key}\0${token}` }];
}
