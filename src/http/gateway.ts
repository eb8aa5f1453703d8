import type { TSchema } from "@sinclair/typebox";
import { invalidParameter, Problem, unavailable } from "../base/errors";
import { containsKeyShape } from "../base/ids";
import type { Log } from "../base/log";
import { redactUrl } from "../base/redaction";
import { plural } from "../base/text";
import type { Ctx } from "../context";
import type { KeyUsage } from "../features/keys/usage";
import { type Charge, type Limiter, POLICIES } from "../features/limits/limiter";
import type { Domains } from "../features/pages/addresses";
import { acceptsHtml, isLiveRefresh, movedTo, problemResponse, toProblem } from "./answers";
import {
  type BodyBudget,
  bodyHeadersProblem,
  createBodyBudget,
  isChunked,
  KEPT_FORM_MAX_BYTES,
  UnfinishedBody,
} from "./body";
import {
  type SessionChange,
  type CallerSources,
  chargeCaller,
  createAuthorisation,
  hasTokenInPath,
  type IdentityHeaders,
  signInRequired,
} from "./caller";
import { type Cdn, MISSING_CACHE } from "./cdn";
import type { ClientAddresses } from "./client-address";
import { addSessionCookie } from "./cookies";
import {
  createHsts,
  NO_STORE,
  seal,
  setDateOfHead,
  setFixedHeaders,
  setRequestHeaders,
} from "./representation";
import {
  type ContextDependencies,
  createRequestIds,
  type PeerOf,
  RequestContext,
  type SplitUrl,
  splitUrl,
  withoutSlash,
} from "./request-context";
import {
  findRightPath,
  type Match,
  matchCustomDomain,
  NO_MATCH,
  type Route,
  type RouteTable,
} from "./route-table";

/** Answers one request. `peer` is called only if the client address is needed. */
export type Gateway = (request: Request, peer: PeerOf) => Response | Promise<Response>;

export interface GatewayDependencies {
  ctx: Ctx;
  routes: RouteTable;
  domains: Domains;
  /** Returns the sources of callers. Called only for routes that need a credential. */
  sources(): CallerSources;
  /** Reader of identity headers; undefined before the dashboard is loaded. */
  identityHeaders(): IdentityHeaders | undefined;
  usage: KeyUsage;
  limiter: Limiter;
  addresses: ClientAddresses;
  /** Undefined without `--cdn`. */
  cdn?: Cdn | undefined;
  /** Loads what the answer to a request without a route needs; undefined if it is loaded. */
  loadRoutes(path: string | undefined): Promise<void> | undefined;
  /** Returns the page that shows an error to a person; undefined if a program sent the request. */
  failurePage(failure: Problem, context: RequestContext): Response | undefined;
  /** Requests that another node answers. */
  elsewhere?: Elsewhere | undefined;
}

/** Request whose route is known and whose caller is not. */
export interface MatchedRequest {
  context: RequestContext;
  match: Match;
  url: SplitUrl;
  /** Reserves room for a body that is read before the request is sent on. */
  bodies: BodyBudget;
}

/**
 * Outcome of a request that is not answered at once: the answer of another node, an error, or the request that
 * this node answers, which differs from the original one if the body was read.
 */
export type ElsewhereOutcome = Response | Problem | Request;

/** Decides which requests another node of the fleet answers. Undefined without a fleet. */
export interface Elsewhere {
  /**
   * Returns an error, or the outcome to wait for; undefined for a request that this node answers at once. `isRefused`
   * returns true if this node refuses the caller.
   */
  answer(
    request: MatchedRequest,
    isRefused: () => boolean,
  ): Problem | Promise<ElsewhereOutcome> | undefined;
  /**
   * Waits, once the caller is charged, until this node has what the request must show. Resolves to undefined then, else
   * to an error or the answer of another node. Returns undefined for a request that need not wait.
   */
  catchUp(request: MatchedRequest): Promise<Response | Problem | undefined> | undefined;
  /** Returns the time of the data that answers of this node show, as text; undefined if that is the newest or not known. */
  asOf?(): string | undefined;
}

/** A match with a route. */
type Found = Extract<Match, { params: unknown }>;

/** Status counted for an unfinished body. A sender that is too slow receives 400. */
const CLIENT_CLOSED = 499;

/**
 * Creates the entrance of all requests. Checks in this order: Host and query; route (on a page's custom
 * domain, one that it serves); node that answers it; credential (looked up in memory); one token from the
 * bucket of the caller; 401 and scope; repeated query parameters; size, media type and encoding of the body;
 * room for the body; `beforeBody`; handler. Responses of this node leave through `finish` with the same headers.
 */
export function createGateway(deps: GatewayDependencies): Gateway {
  const { ctx, routes, usage, limiter, addresses, cdn, elsewhere } = deps;
  const { clock, log } = ctx;
  const authorisation = createAuthorisation(ctx, deps.sources, deps.identityHeaders);
  const bodies = createBodyBudget(clock);
  const requestIds = createRequestIds(ctx.random);
  const logsRequests = log.isLevelEnabled("debug");
  const contextDeps: ContextDependencies = {
    addressOf(request, peer) {
      const from = peer(request);
      return typeof from === "string" ? addresses.of(from, request.headers) : from;
    },
    confirm: authorisation.confirm,
    hstsOf: createHsts(ctx),
    cdn,
    asOf: elsewhere?.asOf,
  };

  return (request, peer) => answer(request, peer, false);

  /** Answers a request. `isHere` is true if no other node answers it. */
  function answer(request: Request, peer: PeerOf, isHere: boolean): Response | Promise<Response> {
    const address = request.url;
    const url = splitUrl(address);
    const context = createContext(request, peer);
    const unreadable = url && hasOneHost(request.headers) ? queryProblem(url.query) : badHost();
    const match = url && !unreadable ? matchOf(context, address, url.path) : NO_MATCH;
    const loading = match.route ? undefined : deps.loadRoutes(unreadable ? undefined : url?.path);
    if (loading) {
      return loading.then(
        () => answer(request, peer, isHere),
        (error: unknown) => finishUnread(context, toProblem(error)),
      );
    }
    context.route = match.route;
    if (elsewhere && !isHere && url && !unreadable) {
      const isRefused = () => authorisation.authorise(context, match) !== undefined;
      const outcome = elsewhere.answer({ context, match, url, bodies }, isRefused);
      if (outcome instanceof Problem) return finishUnread(context, outcome);
      if (outcome) {
        return outcome.then((settled) =>
          settled instanceof Request
            ? answerAgain(context, settled, peer)
            : finishElsewhere(context, settled),
        );
      }
    }
    const outcome = unreadable ?? authorisation.authorise(context, match);
    const charged = chargeCaller(limiter, context);
    if (charged instanceof Promise) {
      return charged.then((settled) => answerCharged(context, match, url, outcome, settled));
    }
    return answerCharged(context, match, url, outcome, charged);
  }

  function createContext(request: Request, peer: PeerOf): RequestContext {
    const context = new RequestContext(request, requestIds(), clock.now(), peer, contextDeps);
    if (logsRequests) context.since = clock.monotonic();
    if (ctx.outside.isLookDue(context.now)) ctx.outside.answered(context.address.ip);
    return context;
  }

  /** Matches a request to a route that the host serves, also if its path is another spelling. */
  function matchOf(context: RequestContext, address: string, sentPath: string): Match {
    const { method } = context.request;
    context.rightPath = findRightPath(routes, context.request, sentPath);
    const path = context.rightPath ?? sentPath;
    const domain = (context.domain = deps.domains.find(address));
    return domain ? matchCustomDomain(domain, routes, method, path) : routes.match(method, path);
  }

  /** Answers a request whose body is in memory, for which room is reserved again. */
  async function answerAgain(context: RequestContext, request: Request, peer: PeerOf) {
    context.body?.release();
    // The runtime knows the peer of the original request alone.
    return closeUnread(context, await answer(request, () => peer(context.request), true));
  }

  /**
   * Answers a request that was charged. `outcome` is the reason for which it is rejected, or what must be done before its
   * caller is known.
   */
  function answerCharged(
    context: RequestContext,
    match: Match,
    url: SplitUrl | undefined,
    outcome: Problem | SessionChange | undefined,
    charged: Charge | undefined,
  ): Response | Promise<Response> {
    const { request } = context;
    context.charge = charged;
    const tooMuch = context.charge?.decision.isAllowed === false && rateLimited(context.charge);
    if (tooMuch) return finishUnread(context, tooMuch);
    if (isPreflight(request, match)) return finishUnread(context, preflight(match.allowed));
    if (typeof outcome !== "function") return answerKnown(context, match, url, outcome);
    return outcome()
      .then((problem) => problem ?? authoriseAgain(context, match), toProblem)
      .then((problem) => answerKnown(context, match, url, problem));
  }

  /** Finds the caller of a request once its session has begun. */
  function authoriseAgain(context: RequestContext, match: Match): Problem | undefined {
    const outcome = authorisation.authorise(context, match);
    return typeof outcome === "function" ? signInRequired() : outcome;
  }

  /** Answers a request whose caller is known. `problem` is the reason for which it is rejected. */
  function answerKnown(
    context: RequestContext,
    match: Match,
    url: SplitUrl | undefined,
    problem: Problem | undefined,
  ): Response | Promise<Response> {
    // Without a route or a URL there is a problem; the types do not show it.
    if (problem || !match.route || !url) {
      const failure = problem ?? badHost();
      const form = readRefusedForm(context, match.route, failure, bodies);
      return form ? form.then(() => finish(context, failure)) : finishUnread(context, failure);
    }
    const behind = elsewhere?.catchUp({ context, match, url, bodies });
    if (!behind) return pass(context, url, match);
    return behind.then((outcome) =>
      outcome ? finishElsewhere(context, outcome) : pass(context, url, match),
    );
  }

  /** Runs the handler of a request, unless its body is refused. */
  function pass(context: RequestContext, url: SplitUrl, { route, params }: Found) {
    const refused = answerUnread(context, url, route);
    if (refused) return finishUnread(context, refused);
    const end = route.body ? finish : finishUnread;
    try {
      if (context.caller.kind === "session" && !isLiveRefresh(context.request)) {
        deps.sources().sessions.touch(context.caller.session, context.now, context.address.ip);
      }
      const answer = route.handle({
        request: requestOf(context, url),
        params,
        query: url.query,
        requestContext: context,
      });
      return answer instanceof Promise
        ? answer
            .catch((error: unknown) => toProblem(error))
            .then((outcome) => end(context, outcome, clock.now()))
        : end(context, answer);
    } catch (error) {
      return end(context, toProblem(error));
    }
  }

  /**
   * Checks query and body headers, reserves room for the body, and runs `beforeBody`. Returns the answer to a request
   * whose body is not read; undefined if it is to be handled.
   */
  function answerUnread(context: RequestContext, url: SplitUrl, route: Route) {
    const { operation, query } = route;
    const body = route.body?.ofCaller?.(context) ?? route.body;
    try {
      return (
        repeatedParameterProblem(query, url.query) ??
        (body && bodyHeadersProblem(context.request.headers, body)) ??
        (body && bodies.reserve(context, body)) ??
        operation.beforeBody?.(context.request, context.address, context.domain)
      );
    } catch (error) {
      return toProblem(error);
    }
  }

  /** Completes and records an answer. `answeredAt` (unix ms) is the arrival if the answer is synchronous. */
  function finish(
    context: RequestContext,
    outcome: Response | Problem,
    answeredAt = context.now,
  ): Response {
    context.body?.release();
    const failure = outcome instanceof Problem ? chargedFailure(context, outcome) : undefined;
    const response = failure
      ? (deps.failurePage(failure, context) ?? problemResponse(failure, context))
      : context.rightPath === undefined
        ? (outcome as Response)
        : toRightPath(context, context.rightPath, outcome as Response);
    if (failure && failure.status >= 500 && failure.cause !== undefined) {
      log.error({ err: failure.cause, request: context.requestId }, "a request failed");
    }
    const isUnfinished = failure instanceof UnfinishedBody;
    // Read once: each read of a property of a response is a call into the runtime.
    const status = isUnfinished ? CLIENT_CLOSED : response.status;
    const { route } = context;
    const isSealed = context.isSealed || route?.operation.isSealed === true;
    if (failure || !context.hasRequestHeaders) {
      if (context.isMissingPart(status)) response.headers.set("Cache-Control", MISSING_CACHE);
      setFixedHeaders(response.headers, route?.operation);
      const isShared = !isSealed && (cdn?.share(response.headers, context.shownPageId) ?? false);
      setRequestHeaders(response.headers, context, isShared);
    }
    // A representation of a private page has these headers, apart from those of a path with a token.
    const isMade = !failure && context.hasRequestHeaders && context.isSealed;
    if (isSealed && !(isMade && context.link === undefined)) {
      seal(response.headers, route !== undefined && hasTokenInPath(route));
    }
    if (context.begunSession !== undefined) {
      addSessionCookie(response.headers, ctx, context.begunSession);
    }
    setDateOfHead(context.request, response, answeredAt);
    // The sender may never stop sending.
    if (isUnfinished || context.body?.isUnread) response.headers.set("Connection", "close");
    routes.counts.record(route?.index, status);
    if (context.caller.kind === "key") {
      usage.record(context.caller.credential, status, answeredAt, context);
    }
    if (logsRequests) logRequest(log, context, status, clock.monotonic());
    return response;
  }

  /** Charges a missing file, which is not charged before. Returns the error to answer with. */
  function chargedFailure(context: RequestContext, failure: Problem): Problem {
    if (context.charge) return failure;
    context.charge = limiter.chargeMissingFile(context.address);
    return context.charge.decision.isAllowed ? failure : rateLimited(context.charge);
  }

  /** Answers without the body. A chunked one may have no end, so the connection is closed too. */
  function finishUnread(
    context: RequestContext,
    outcome: Response | Problem,
    answeredAt = context.now,
  ): Response {
    const response = finish(context, outcome, answeredAt);
    if (isChunked(context.request.headers)) response.headers.set("Connection", "close");
    return response;
  }

  /** Completes a request that another node has answered or should have. Headers and charge of its answer are its own. */
  function finishElsewhere(context: RequestContext, outcome: Response | Problem): Response {
    context.body?.release();
    if (outcome instanceof Problem) return finishUnread(context, outcome, clock.now());
    routes.counts.record(context.route?.index, outcome.status);
    setDateOfHead(context.request, outcome, clock.now());
    if (logsRequests) logRequest(log, context, outcome.status, clock.monotonic());
    return closeUnread(context, outcome);
  }
}

/** Returns false for several Host headers, which the runtime joins by commas (RFC 9112 asks for 400). */
function hasOneHost(headers: Headers): boolean {
  return headers.get("host")?.includes(",") !== true;
}

/** Returns 400 for a query that contains an API key or an access token, since queries are logged. */
function queryProblem(query: string): Problem | undefined {
  if (query === "") return undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === "access_token" || containsKeyShape(value) || containsKeyShape(name)) {
      return new Problem(
        "invalid_request",
        "An API key must not be in the query string, because logs keep it. Send it in the Authorization header, and rotate this key.",
      );
    }
  }
  return undefined;
}

function badHost(): Problem {
  return new Problem(
    "invalid_request",
    "The Host header is empty, is not a host, or was sent twice.",
  );
}

/** Returns true for OPTIONS on a path that other origins may read. Elsewhere the method is not allowed. */
function isPreflight(
  request: Request,
  match: Match,
): match is { route: undefined; allowed: readonly string[] } {
  return !match.route && request.method === "OPTIONS" && match.allowed.includes("OPTIONS");
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

export function rateLimited({ policy, decision }: Charge): Problem {
  const seconds = decision.refillInSeconds;
  // Alertmanager gives a report up after a 429, and repeats it after a 503.
  if (policy === "alerts") {
    return unavailable(
      `More than ${decision.limit} bodies of alerts came in a minute. Try again in ${plural(seconds, "second")}.`,
      seconds,
    );
  }
  return new Problem(
    "rate_limited",
    `The limit of ${decision.limit} requests a minute for ${POLICIES[policy].subject} is used up. Try again in ${plural(seconds, "second")}.`,
    { headers: { "Retry-After": String(seconds) } },
  );
}

/**
 * Reads a form that is refused because its session has ended, so that the answer can keep its fields.
 * Undefined for other requests, and for forms that are too large or cannot be read.
 */
function readRefusedForm(
  context: RequestContext,
  route: Route | undefined,
  { code }: Problem,
  bodies: BodyBudget,
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
  return route.body.read(request, context).catch(() => {
    if (context.body) context.body.isUnread = true;
  });
}

/**
 * Returns the problem of a query that contains a declared parameter more than once: readers would differ
 * in which value counts. Undeclared parameters are ignored.
 */
function repeatedParameterProblem(
  declared: TSchema | undefined,
  query: string,
): Problem | undefined {
  if (query === "" || declared === undefined) return undefined;
  const names = declared["properties"] as Record<string, unknown>;
  const seen = new Set<string>();
  for (const name of new URLSearchParams(query).keys()) {
    if (!Object.hasOwn(names, name)) continue;
    if (seen.has(name)) return invalidParameter(name, "is given more than once");
    seen.add(name);
  }
  return undefined;
}

/** Returns the request that the handler gets: by GET for HEAD, and with the right path in place of another spelling. */
function requestOf({ request, rightPath }: RequestContext, { path, query }: SplitUrl): Request {
  if (rightPath === undefined && request.method !== "HEAD") return request;
  const right = withoutSlash(rightPath ?? path) || "/";
  // The original host may not be valid in a URL.
  const url = `http://localhost${right}${query === "" ? "" : `?${query}`}`;
  return new Request(url, { headers: request.headers });
}

/**
 * Returns the redirect to the path that was meant, if that path has an answer. Any other answer is the same for
 * both paths, so a redirect reveals no page that the caller cannot see.
 */
function toRightPath(context: RequestContext, path: string, answer: Response): Response {
  if (!answer.ok && answer.status !== 304) return answer;
  const query = splitUrl(context.request.url)?.query;
  // The headers of this request were set on the answer, which is dropped.
  context.hasRequestHeaders = false;
  const cacheControl = answer.headers.get("Cache-Control") ?? NO_STORE;
  return movedTo(query ? `${path}?${query}` : path, cacheControl);
}

/** Logs an answered request. `now` is monotonic, in ms. */
function logRequest(log: Log, context: RequestContext, status: number, now: number): void {
  const { request, caller } = context;
  log.debug(
    {
      request: context.requestId,
      method: request.method,
      url: redactUrl(request.url),
      status,
      ms: Math.round((now - context.since) * 100) / 100,
      ip: context.address.ip,
      ...(caller.kind === "key" ? { key: caller.credential.key.id } : {}),
      ...(caller.kind === "session" ? { user: caller.session.user.id } : {}),
      ...(caller.kind === "job" ? { monitor: caller.owner.monitorId } : {}),
    },
    "request",
  );
}

/** Closes the connection after an answer to a request whose body was not read to its end. */
function closeUnread({ body, request }: RequestContext, response: Response): Response {
  if (body ? body.isUnread : isChunked(request.headers)) {
    response.headers.set("Connection", "close");
  }
  return response;
}
