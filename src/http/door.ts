import type { AppContext } from "../context";
import { Problem } from "../errors";
import type { Sessions } from "../features/auth";
import type { KeyDirectory, KeyUsage } from "../features/keys";
import type { Charge, Limiter } from "../features/limits";
import type { HeartbeatDirectory } from "../features/monitors";
import type { Domains } from "../features/pages";
import type { Admissions } from "./admission";
import { createAuthorisation } from "./authorisation";
import { isChunked, judgeBodyHeaders, UnfinishedBody } from "./body";
import { allowedMs, countedBytes, createBodyBudget } from "./body-budget";
import type { ClientAddresses } from "./client-address";
import type { DeclaredBody } from "./declared-body";
import { IncomingBody, setIncomingBody } from "./incoming-body";
import { matchOnDomain } from "./page-surface";
import { isPreflight, preflight } from "./preflight";
import { problemResponse, toProblem } from "./problems";
import { judgeQuery, repeatedParameterProblem } from "./query";
import { badHost, rateLimited, tooManyBodies } from "./refusals";
import { logRequest } from "./request-log";
import type { Match, Route, RouteTable } from "./route-table";
import { type SplitUrl, splitUrl } from "./split-url";
import { stamp, stampOnce } from "./stamp";
import { type PeerOf, Visit, type VisitMeans } from "./visit";

/** Answers one request. `peer` is asked only where an address matters. */
export type Door = (request: Request, peer: PeerOf) => Response | Promise<Response>;

export interface DoorParts {
  ctx: Pick<AppContext, "baseUrl" | "clock" | "log" | "random">;
  routes: RouteTable;
  admissions: Admissions;
  domains: Domains;
  keys: KeyDirectory;
  sessions: Sessions;
  heartbeats: HeartbeatDirectory;
  usage: KeyUsage;
  limiter: Limiter;
  addresses: ClientAddresses;
  /** Loads the routes of a path where that has to be done yet; undefined where it has not. */
  loadRoutes(path: string): Promise<void> | undefined;
  /** The page that tells a person what went wrong; undefined where a program is to be told. */
  failurePage(failure: Problem, visit: Visit): Response | undefined;
}

/** Status counted for a request whose body never arrived whole. A sender that is too slow receives 400. */
const CLIENT_CLOSED = 499;

const NO_MATCH: Match = { route: undefined, allowed: [] };

/**
 * Creates the entrance of all requests. Checks in this order: Host and query; route (on a page's custom
 * domain, of that page's public surface); credential (looked up in memory); one token from the bucket that
 * pays; 401 and scope; repeated query parameters; size, media type and encoding of the body; room for the
 * body; `beforeBody`; handler. Every response leaves through `finish` with the same headers.
 */
export function createDoor(parts: DoorParts): Door {
  const { ctx, routes, admissions, usage, limiter, addresses } = parts;
  const { clock, log } = ctx;
  const authorisation = createAuthorisation(ctx, parts);
  const bodies = createBodyBudget();
  const requestIds = createRequestIds(ctx.random);
  const logsRequests = log.isLevelEnabled("debug");
  const means: VisitMeans = {
    addressOf: (request, peer) => addresses.of(peer(request), request.headers),
    confirm: authorisation.confirm,
  };

  function charge(visit: Visit): Charge | undefined {
    if (visit.caller.kind === "key") {
      const { key } = visit.caller.credential;
      return limiter.chargeKey(key.id, key.rateLimit);
    }
    if (visit.caller.kind === "session") return limiter.chargeSession(visit.caller.session.id);
    if (visit.caller.kind === "job") return limiter.chargeHeartbeat(visit.caller.monitorId);
    const kind = visit.route?.operation.access.kind;
    if (kind === "file") return undefined;
    return kind === "health"
      ? limiter.chargeHealthCheck(visit.address)
      : limiter.chargeAddress(visit.address);
  }

  /** What went wrong with a request, if anything did. A file that is not there is charged for now. */
  function failureOf(visit: Visit, outcome: Response | Problem): Problem | undefined {
    const failure = outcome instanceof Problem ? outcome : visit.failure;
    if (failure === undefined || visit.charge) return failure;
    visit.charge = limiter.chargeAddress(visit.address);
    return visit.charge.decision.isAllowed ? failure : rateLimited(visit.charge);
  }

  /** `answeredAt`, in unix ms: where nothing was waited for, the moment in which the request came. */
  function finish(visit: Visit, outcome: Response | Problem, answeredAt = visit.now): Response {
    visit.body?.release();
    const failure = failureOf(visit, outcome);
    const response = failure ? tell(failure, visit) : (outcome as Response);
    if (failure && failure.status >= 500 && failure.cause !== undefined) {
      log.error({ err: failure.cause, request: visit.requestId }, "a request failed");
    }
    if (failure || !visit.isStamped) {
      stampOnce(response.headers, visit.route?.operation.isCrossOrigin ?? false);
      stamp(response.headers, visit);
    }
    const isUnfinished = failure instanceof UnfinishedBody;
    // The sender may go on for ever.
    if (isUnfinished || visit.body?.isUnread) response.headers.set("Connection", "close");
    // Asked once: what the runtime keeps of a request and of an answer costs a call each time.
    const status = isUnfinished ? CLIENT_CLOSED : response.status;
    routes.counts.record(visit.route?.index, status);
    if (visit.caller.kind === "key") {
      usage.record(visit.caller.credential, status, answeredAt, visit);
    }
    if (logsRequests) logRequest(log, visit, status, clock.monotonic());
    return response;
  }

  /**
   * Answers without the body. A chunked one may have no end, so the connection is closed with the
   * answer: the runtime would go on parsing chunks, of which a sender may make millions.
   */
  function finishUnread(
    visit: Visit,
    outcome: Response | Problem,
    answeredAt = visit.now,
  ): Response {
    const response = finish(visit, outcome, answeredAt);
    if (isChunked(visit.request.headers)) response.headers.set("Connection", "close");
    return response;
  }

  function tell(failure: Problem, visit: Visit): Response {
    return parts.failurePage(failure, visit) ?? problemResponse(failure, visit.requestId);
  }

  /** The declared route that a request may meet on the host that it was sent to. */
  function matchOf(visit: Visit, address: string, path: string): Match {
    const { method } = visit.request;
    visit.domain = parts.domains.find(address);
    return visit.domain
      ? matchOnDomain(visit.domain, routes, { method, path })
      : routes.match(method, path);
  }

  /** Reserves room for a body and limits its time. Returns a Problem if there is no room. */
  function reserveBody(visit: Visit, body: DeclaredBody): Problem | undefined {
    const bytes = countedBytes(visit.request.headers, body);
    if (bytes === 0) return undefined;
    const isAnonymous = visit.caller.kind === "address";
    const release = bodies.reserve(visit.address, bytes, isAnonymous);
    if (!release) return tooManyBodies();
    const ms = allowedMs(bytes, body, isAnonymous);
    visit.body = new IncomingBody(clock, ms, release);
    setIncomingBody(visit.request, visit.body);
    return undefined;
  }

  /** Lets a request through to its handler. */
  function pass(visit: Visit, url: SplitUrl, route: Route): Response | Promise<Response> {
    if (visit.caller.kind === "session") {
      parts.sessions.touch(visit.caller.session, visit.now, visit.address.ip);
    }
    const inner = visit.request.method === "HEAD" ? asGet(visit.request, url) : visit.request;
    admissions.set(inner, visit);
    const end = route.body ? finish : finishUnread;
    try {
      const answer = route.handle(inner);
      return answer instanceof Promise
        ? answer
            .catch((error: unknown) => toProblem(error, "UNKNOWN"))
            .then((outcome) => end(visit, outcome, clock.now()))
        : end(visit, answer);
    } catch (error) {
      return end(visit, toProblem(error, "UNKNOWN"));
    }
  }

  function arrive(request: Request, peer: PeerOf): Visit {
    const visit = new Visit(request, requestIds(), clock.now(), peer, means);
    if (logsRequests) visit.since = clock.monotonic();
    return visit;
  }

  const door: Door = (request, peer) => {
    const address = request.url;
    const url = splitUrl(address);
    const loading = url && parts.loadRoutes(url.path);
    if (loading) {
      return loading.then(
        () => door(request, peer),
        (error: unknown) => finishUnread(arrive(request, peer), toProblem(error, "UNKNOWN")),
      );
    }
    const visit = arrive(request, peer);
    const unreadable = url && hasOneHost(request.headers) ? judgeQuery(url.query) : badHost();
    const match = url && !unreadable ? matchOf(visit, address, url.path) : NO_MATCH;
    visit.route = match.route;
    const refusal = unreadable ?? authorisation.judge(visit, match);
    visit.charge = charge(visit);

    const tooMuch = visit.charge?.decision.isAllowed === false && rateLimited(visit.charge);
    if (tooMuch) return finishUnread(visit, tooMuch);
    if (isPreflight(request, match)) return finishUnread(visit, preflight(match.allowed));
    // Without a route, or a URL, there is a refusal.
    if (refusal || !match.route || !url) return finishUnread(visit, refusal ?? badHost());
    const { body, operation, query } = match.route;
    const malformed =
      repeatedParameterProblem(query, url.query) ??
      (body ? judgeBodyHeaders(request.headers, body) : undefined);
    const answer =
      malformed ??
      (body ? reserveBody(visit, body) : undefined) ??
      operation.beforeBody?.(request, visit.address);
    if (answer) return finishUnread(visit, answer);
    return pass(visit, url, match.route);
  };
  return door;
}

/** Returns false for several Host headers, which the runtime joins by commas (RFC 9112 asks for 400). */
function hasOneHost(headers: Headers): boolean {
  return headers.get("host")?.includes(",") !== true;
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
function asGet(request: Request, { path, query }: SplitUrl): Request {
  const url = `http://localhost${path}${query === "" ? "" : `?${query}`}`;
  return new Request(url, { headers: request.headers });
}
