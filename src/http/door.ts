import type { AppContext } from "../context";
import { notFound, Problem } from "../errors";
import type { Credential, KeyDirectory, KeyUsage } from "../features/keys";
import { type Charge, type Limiter, POLICIES } from "../features/limits";
import type { Admission, Admissions, Caller } from "./admission";
import type { ClientAddress } from "../kernel/client-address";
import type { ClientAddresses } from "./client-address";
import { createCredentials, judgeQuery, judgeScopes } from "./credentials";
import { judgeBodyHeaders } from "./json-body";
import { problemResponse, toProblem } from "./problems";
import { redactUrl } from "./redact";
import type { Match, RouteTable } from "./route-table";
import { stamp, stampOnce } from "./stamp";

/** Answers one request. `peer` is the address of the socket that it came by. */
export type Door = (request: Request, peer: string) => Response | Promise<Response>;

export interface DoorParts {
  ctx: Pick<AppContext, "clock" | "log" | "random">;
  routes: RouteTable;
  admissions: Admissions;
  keys: KeyDirectory;
  usage: KeyUsage;
  limiter: Limiter;
  addresses: ClientAddresses;
  /** The application behind the door. */
  handle: (request: Request) => Response | Promise<Response>;
}

/** What is known of a request from its first line, its headers and memory. */
interface Judgement {
  caller: Caller;
  refusal: Problem | undefined;
}

/**
 * The one entrance. A request's way: host and query, the declared route, the credential (looked up in
 * memory), exactly one token from the one bucket that pays for it, then 401, the scope, the body's
 * size and media type, and only then the handler. Every answer, whoever made it, leaves through
 * `finish` with the same headers.
 */
export function createDoor(parts: DoorParts): Door {
  const { ctx, routes, admissions, usage, limiter, addresses } = parts;
  const { clock, log } = ctx;
  const credentials = createCredentials(parts.keys, () => clock.now());
  const requestIds = createRequestIds(ctx.random);
  const logsRequests = log.isLevelEnabled("debug");

  /** Keys are read anew after a change, at the next look-up; the database may refuse that. */
  function judgeCredential(authorization: string | null): Credential | Problem {
    try {
      return credentials.judge(authorization);
    } catch (error) {
      return toProblem(error, "UNKNOWN");
    }
  }

  function judge(request: Request, match: Match): Judgement {
    if (!match.route) {
      return { caller: NOBODY, refusal: noRoute(request.method, match.allowed) };
    }
    const { access } = match.route.operation;
    if (access.kind !== "key") return { caller: NOBODY, refusal: undefined };
    const verdict = judgeCredential(request.headers.get("authorization"));
    if (verdict instanceof Problem) return { caller: NOBODY, refusal: verdict };
    return {
      caller: { kind: "key", credential: verdict },
      refusal: judgeScopes(verdict, access.scopes),
    };
  }

  function charge(caller: Caller, match: Match, address: ClientAddress): Charge | undefined {
    if (caller.kind === "key") {
      const { key } = caller.credential;
      return limiter.chargeKey(key.id, key.rateLimit);
    }
    const kind = match.route?.operation.access.kind;
    if (kind === "file") return undefined;
    return kind === "health" ? limiter.chargeHealthCheck(address) : limiter.chargeAddress(address);
  }

  /** What went wrong with a request, if anything did. A file that is not there is charged for now. */
  function failureOf(admission: Admission, outcome: Response | Problem): Problem | undefined {
    const failure = outcome instanceof Problem ? outcome : admission.failure;
    if (failure === undefined || admission.charge) return failure;
    admission.charge = limiter.chargeAddress(admission.address);
    return admission.charge.decision.isAllowed ? failure : rateLimited(admission.charge);
  }

  function finish(
    request: Request,
    admission: Admission,
    outcome: Response | Problem,
    since: number,
  ): Response {
    const { caller } = admission;
    const failure = failureOf(admission, outcome);
    const response = failure
      ? problemResponse(failure, admission.requestId)
      : (outcome as Response);
    if (failure && failure.status >= 500 && failure.cause !== undefined) {
      log.error({ err: failure.cause, request: admission.requestId }, "a request failed");
    }
    if (failure || !admission.isStamped) {
      stampOnce(response.headers, admission.route?.operation.isCrossOrigin ?? false);
      stamp(response.headers, admission, clock.now());
    }
    if (caller.kind === "key") {
      usage.record(caller.credential, response.status, admission.address.ip);
    }
    if (logsRequests) {
      log.debug(
        {
          request: admission.requestId,
          method: request.method,
          url: redactUrl(request.url),
          status: response.status,
          ms: Math.round((clock.monotonic() - since) * 100) / 100,
          ip: admission.address.ip,
          ...(caller.kind === "key" ? { key: caller.credential.key.id } : {}),
        },
        "request",
      );
    }
    return response;
  }

  return function door(request, peer) {
    const since = clock.monotonic();
    const url = splitUrl(request.url);
    const unreadable = url ? judgeQuery(url.query) : badHost();
    const match = url && !unreadable ? routes.match(request.method, url.path) : NO_MATCH;
    const address = addresses.of(peer, request.headers);
    const { caller, refusal } = unreadable
      ? { caller: NOBODY, refusal: unreadable }
      : judge(request, match);
    const admission: Admission = {
      requestId: requestIds(),
      route: match.route,
      caller,
      address,
      charge: charge(caller, match, address),
      failure: undefined,
      isStamped: false,
    };
    const finishWith = (outcome: Response | Problem) => finish(request, admission, outcome, since);

    if (admission.charge?.decision.isAllowed === false) {
      return finishWith(rateLimited(admission.charge));
    }
    if (isPreflight(request, match)) return finishWith(preflight(match.allowed));
    if (refusal) return finishWith(refusal);
    if (match.route?.body) {
      const badBody = judgeBodyHeaders(request.headers);
      if (badBody) return finishWith(badBody);
    }

    const inner = request.method === "HEAD" ? asGet(request) : request;
    admissions.set(inner, admission);
    try {
      const answer = parts.handle(inner);
      return answer instanceof Promise
        ? answer.catch((error: unknown) => toProblem(error, "UNKNOWN")).then(finishWith)
        : finishWith(answer);
    } catch (error) {
      return finishWith(toProblem(error, "UNKNOWN"));
    }
  };
}

const NOBODY: Caller = { kind: "address" };
const NO_MATCH: Match = { route: undefined, allowed: [] };

interface SplitUrl {
  path: string;
  query: string;
}

/** Path and query of an absolute URL; undefined where a bad Host left the URL relative. */
function splitUrl(url: string): SplitUrl | undefined {
  if (!url.startsWith("http")) return undefined;
  const pathAt = url.indexOf("/", url.indexOf("://") + 3);
  if (pathAt === -1) return undefined;
  const queryAt = url.indexOf("?", pathAt);
  if (queryAt === -1) return { path: url.slice(pathAt), query: "" };
  return { path: url.slice(pathAt, queryAt), query: url.slice(queryAt + 1) };
}

/**
 * Ids that are unique to this run of the server and cheap: a random beginning and a count.
 */
function createRequestIds(random: AppContext["random"]): () => string {
  const beginning = Buffer.from(random(6)).toString("hex");
  let count = 0;
  return () => `req_${beginning}${(++count).toString(36).padStart(6, "0")}`;
}

function badHost(): Problem {
  return new Problem("invalid_request", "The Host header is empty or is not a host.");
}

function noRoute(method: string, allowed: readonly string[]): Problem {
  if (allowed.length === 0) return notFound("path");
  const list = allowed.join(", ");
  return new Problem(
    "method_not_allowed",
    `${method} is not a method of this path; it answers ${list}.`,
    { headers: { Allow: list } },
  );
}

function rateLimited({ policy, decision }: Charge): Problem {
  const seconds = decision.retryAfterSeconds;
  const plural = seconds === 1 ? "second" : "seconds";
  return new Problem(
    "rate_limited",
    `The limit of ${decision.limit} requests a minute for ${POLICIES[policy].whose} is used up. Try again in ${seconds} ${plural}.`,
    { headers: { "Retry-After": String(seconds) } },
  );
}

/** OPTIONS on a path that other origins may read; everywhere else it is a method not allowed. */
function isPreflight(
  request: Request,
  match: Match,
): match is { route: undefined; allowed: readonly string[] } {
  return request.method === "OPTIONS" && !match.route && match.allowed.includes("OPTIONS");
}

function preflight(allowed: readonly string[]): Response {
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

/** HEAD runs GET's handler; the server sends the headers and leaves the body away. */
function asGet(request: Request): Request {
  return new Request(request.url, { headers: request.headers });
}
