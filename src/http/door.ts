import type { AppContext } from "../context";
import { Problem } from "../errors";
import type { Credential, KeyDirectory, KeyUsage } from "../features/keys";
import type { Charge, Limiter } from "../features/limits";
import type { ClientAddress } from "../kernel/client-address";
import type { Admission, Admissions, Caller } from "./admission";
import type { ClientAddresses } from "./client-address";
import { createCredentials, judgeQuery, judgeScopes } from "./credentials";
import { judgeBodyHeaders } from "./json-body";
import { isPreflight, preflight } from "./preflight";
import { problemResponse, toProblem } from "./problems";
import { redactUrl } from "./redact";
import { badHost, noRoute, rateLimited } from "./refusals";
import type { Match, RouteTable } from "./route-table";
import { splitUrl } from "./split-url";
import { stamp, stampOnce } from "./stamp";

/**
 * Answers one request. `peer` gives the address of the socket that it came by; asking costs a system
 * call, so it is asked only where an address matters.
 */
export type Door = (request: Request, peer: () => string) => Response | Promise<Response>;

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

/** One request on its way through the door. */
interface Visit {
  request: Request;
  admission: Admission;
  address: () => ClientAddress;
  /** When it came, on the monotonic clock. */
  since: number;
}

/** What is known of a request from its first line, its headers and memory. */
interface Judgement {
  caller: Caller;
  refusal: Problem | undefined;
}

const NOBODY: Caller = { kind: "address" };
const NO_MATCH: Match = { route: undefined, allowed: [] };

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

  function confirmCaller(request: Request, caller: Caller): void {
    if (caller.kind !== "key") return;
    const verdict = judgeCredential(request.headers.get("authorization"));
    if (verdict instanceof Problem) throw verdict;
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

  function charge(caller: Caller, match: Match, address: () => ClientAddress): Charge | undefined {
    if (caller.kind === "key") {
      const { key } = caller.credential;
      return limiter.chargeKey(key.id, key.rateLimit);
    }
    const kind = match.route?.operation.access.kind;
    if (kind === "file") return undefined;
    return kind === "health"
      ? limiter.chargeHealthCheck(address())
      : limiter.chargeAddress(address());
  }

  /** What went wrong with a request, if anything did. A file that is not there is charged for now. */
  function failureOf(visit: Visit, outcome: Response | Problem): Problem | undefined {
    const { admission } = visit;
    const failure = outcome instanceof Problem ? outcome : admission.failure;
    if (failure === undefined || admission.charge) return failure;
    admission.charge = limiter.chargeAddress(visit.address());
    return admission.charge.decision.isAllowed ? failure : rateLimited(admission.charge);
  }

  function finish(visit: Visit, outcome: Response | Problem): Response {
    const { admission } = visit;
    const failure = failureOf(visit, outcome);
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
    if (admission.caller.kind === "key") {
      usage.record(admission.caller.credential, response.status, () => visit.address().ip);
    }
    if (logsRequests) logRequest(visit, response.status);
    return response;
  }

  function logRequest({ request, admission, address, since }: Visit, status: number): void {
    const { caller } = admission;
    log.debug(
      {
        request: admission.requestId,
        method: request.method,
        url: redactUrl(request.url),
        status,
        ms: Math.round((clock.monotonic() - since) * 100) / 100,
        ip: address().ip,
        ...(caller.kind === "key" ? { key: caller.credential.key.id } : {}),
      },
      "request",
    );
  }

  return function door(request, peer) {
    const since = clock.monotonic();
    const url = splitUrl(request.url);
    const unreadable = url ? judgeQuery(url.query) : badHost();
    const match = url && !unreadable ? routes.match(request.method, url.path) : NO_MATCH;
    const { caller, refusal } = unreadable
      ? { caller: NOBODY, refusal: unreadable }
      : judge(request, match);
    const address = () => addresses.of(peer(), request.headers);
    const admission: Admission = {
      requestId: requestIds(),
      route: match.route,
      caller,
      charge: charge(caller, match, address),
      failure: undefined,
      isStamped: false,
      confirm: () => confirmCaller(request, caller),
    };
    const visit: Visit = { request, admission, address, since };

    if (admission.charge?.decision.isAllowed === false) {
      return finish(visit, rateLimited(admission.charge));
    }
    if (isPreflight(request, match)) return finish(visit, preflight(match.allowed));
    if (refusal) return finish(visit, refusal);
    if (match.route?.body) {
      const badBody = judgeBodyHeaders(request.headers);
      if (badBody) return finish(visit, badBody);
    }
    return pass(visit, url?.path ?? "/", url?.query ?? "");
  };

  /** Lets a request through to its handler. */
  function pass(visit: Visit, path: string, query: string): Response | Promise<Response> {
    const { request, admission } = visit;
    const inner = request.method === "HEAD" ? asGet(request, path, query) : request;
    admissions.set(inner, admission);
    try {
      const answer = parts.handle(inner);
      return answer instanceof Promise
        ? answer
            .catch((error: unknown) => toProblem(error, "UNKNOWN"))
            .then((outcome) => finish(visit, outcome))
        : finish(visit, answer);
    } catch (error) {
      return finish(visit, toProblem(error, "UNKNOWN"));
    }
  }
}

/** Ids that are unique to this run of the server and cheap: a random beginning and a count. */
function createRequestIds(random: AppContext["random"]): () => string {
  const beginning = `req_${Buffer.from(random(8)).toString("hex")}`;
  let count = 0;
  return () => beginning + (++count).toString(36);
}

/**
 * HEAD runs GET's handler; the server sends the headers and leaves the body away. The host is left
 * behind: it may be one that makes no URL.
 */
function asGet(request: Request, path: string, query: string): Request {
  const url = `http://localhost${path}${query === "" ? "" : `?${query}`}`;
  return new Request(url, { headers: request.headers });
}
