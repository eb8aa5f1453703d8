import { LRUCache } from "lru-cache";
import type { IncomingMessage } from "node:http";
import type { ClientAddress } from "../../base/client-address";
import type { Clock, Timer } from "../../base/clock";
import { notFound, Problem, unavailable } from "../../base/errors";
import { sha256Hex } from "../../base/hash";
import type { Log } from "../../base/log";
import { MINUTE_MS, SECOND_MS, toIso } from "../../base/time";
import type { Ctx } from "../../context";
import type { Limiter } from "../../features/limits/limiter";
import { isServed } from "../../features/pages/addresses";
import { listPrivateSlugs } from "../../features/pages/access-store";
import { findDefaultPage } from "../../features/pages/store";
import {
  BODY_MAX_BYTES,
  bodyLengthProblem,
  type DeclaredBody,
  type BodyLimits,
  hasBody,
  isOfType,
  readBeginning,
  readBytes,
} from "../../http/body";
import {
  type Elsewhere,
  type ElsewhereOutcome,
  type MatchedRequest,
  rateLimited,
} from "../../http/gateway";
import { toProblem } from "../../http/answers";
import { visitorAddress } from "../../http/visitor";
import { bodyOf, describeRefusal, Overdue, requestNode } from "../node-client";
import {
  CERTAIN_HEADER,
  CLIENT_HEADER,
  FORWARD_PATH,
  FORWARDED_HEADER,
  ORIGIN_HEADER,
  withoutConnection,
} from "../store";
import { keysUnknown } from "../health-routes";

/** Time for which the reads of a key that wrote go to the primary, in ms. */
const OWN_WRITES_MS = 5_000;
/** Longest wait for a transaction that the client names, in ms. */
const REACH_MS = 2_000;
/** Requests that wait for a transaction at the same time. Further ones are forwarded at once. */
const WAITING_MAX = 1_000;
/** Keys whose last write is remembered. */
const WRITERS_MAX = 10_000;

const CHANGING: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Paths that parsers of URLs replace by another one, which the primary would answer. No route has one. */
const REPLACED_PATH = /[\\#\t\n\r]|\/(?:\.|%2e){1,2}(?:\/|$)/i;

const MIN_TXID = "allclear-min-txid";

const NO_BYTES = new Uint8Array();

/** A request that may be sent to the primary. */
interface ForwardedRequest extends MatchedRequest {
  /** The body, if it was read to decide about the request. */
  body?: Uint8Array<ArrayBuffer>;
  /** True if it changes nothing, whatever its method. */
  isRead?: boolean;
}

/** State of the database that a replica follows. */
interface Followed {
  /** Resolves to true once a transaction is applied, or to false after `limitMs`. */
  waitFor(txid: number, limitMs: number): Promise<boolean>;
  /** Number of the newest applied transaction. */
  txid(): number;
  /** Last moment, in unix ms, at which nothing newer was known; undefined before the first. */
  asOf(): number | undefined;
  /** True while the replica would know of a revoked key. */
  acceptsKeys(): boolean;
}

/**
 * Decides which requests of a replica the primary answers: changes, the dashboard, links of mails, heartbeats,
 * private pages, and reads by a key that must see its own writes. It answers all others itself.
 */
export function createElsewhere(
  ctx: Ctx,
  deps: { limiter: Limiter; forwarder: Forwarder; followed: Followed },
): Elsewhere {
  const { clock } = ctx;
  const { limiter, forwarder, followed } = deps;
  const isOfPrivatePage = createPrivatePages(ctx);
  /** Hash of an Authorization header → monotonic time until which its reads are forwarded. */
  const writers = new LRUCache<string, number>({ max: WRITERS_MAX });
  let waiting = 0;
  /** Time that answers show. It changes with each listing of the store, so few answers need a new text. */
  let shown: { time: number | undefined; text: string | undefined } = {
    time: undefined,
    text: undefined,
  };

  function forward(matched: ForwardedRequest): Problem | Promise<ElsewhereOutcome> {
    const { context } = matched;
    context.charge = limiter.chargeForward(context.address);
    if (!context.charge.decision.isAllowed) return rateLimited(context.charge);
    if (REPLACED_PATH.test(matched.url.path)) return notFound("path");
    return send(matched).catch(toProblem);
  }

  async function send(matched: ForwardedRequest): Promise<ElsewhereOutcome> {
    const { context, match, url, isRead = false } = matched;
    const { request } = context;
    const body = matched.body ?? (await readForwardedBody(matched));
    if (body instanceof Problem) return body;
    if (!isRead) noteWrite(request);
    const answer = await forwarder.send({
      method: request.method,
      origin: request.url.slice(0, request.url.indexOf("/", request.url.indexOf("://") + 3)),
      pathAndQuery: url.query === "" ? url.path : `${url.path}?${url.query}`,
      headers: request.headers,
      body,
      client: visitorAddress(context),
    });
    if (!isRead) noteWrite(request);
    if (!(answer instanceof NotForwarded)) return answer;
    // The replica's own handler keeps the heartbeat for the next primary, or refuses it.
    return isHeartbeat(match) ? sentAgain(request, body) : answer.problem;
  }

  function noteWrite({ method, headers }: Request): void {
    const authorization = headers.get("authorization");
    if (authorization === null || !CHANGING.has(method)) return;
    writers.set(sha256Hex(authorization), clock.monotonic() + OWN_WRITES_MS);
  }

  function hasJustWritten({ headers }: Request): boolean {
    const authorization = writers.size === 0 ? null : headers.get("authorization");
    if (authorization === null) return false;
    return (writers.get(sha256Hex(authorization)) ?? 0) > clock.monotonic();
  }

  /** Decides about a read by a key. */
  function readByKey(matched: ForwardedRequest): Problem | Promise<ElsewhereOutcome> | undefined {
    if (hasJustWritten(matched.context.request)) return forward({ ...matched, isRead: true });
    return followed.acceptsKeys() ? undefined : keysUnknown();
  }

  /** Reads the body of a request by a key to decide if it is a change, which the primary makes, or a read. */
  async function decideByBody(
    matched: MatchedRequest,
    changes: (body: Uint8Array) => boolean,
  ): Promise<ElsewhereOutcome> {
    const { request } = matched.context;
    const body = (await readForwardedBody(matched)) ?? NO_BYTES;
    if (body instanceof Problem) return body;
    const outcome = (changes(body) ? forward : readByKey)({ ...matched, body });
    return outcome ?? sentAgain(request, body);
  }

  /** Waits until a transaction is applied, or forwards the read. */
  async function reach(
    txid: number,
    matched: MatchedRequest,
  ): Promise<Response | Problem | undefined> {
    waiting += 1;
    const isApplied = await followed.waitFor(txid, REACH_MS).finally(() => (waiting -= 1));
    if (!isApplied) return forwardRead(matched);
    if (!followed.acceptsKeys()) return keysUnknown();
    // The key may have been revoked by then.
    matched.context.confirm();
    return undefined;
  }

  /** Forwards a read, which has no body and so never becomes a request of this node. */
  async function forwardRead(matched: MatchedRequest): Promise<Response | Problem> {
    return (await forward(matched)) as Response | Problem;
  }

  return {
    answer(matched, isRefused) {
      const { context, match, url } = matched;
      const { method } = context.request;
      if (CHANGING.has(method)) {
        const { changes } = match.route?.operation ?? {};
        if (!changes) return forward(matched);
        // Only the primary may know a new key. A refused caller's body is not read to decide.
        if (isRefused()) return followed.acceptsKeys() ? undefined : forward(matched);
        return decideByBody(matched, changes).catch(toProblem);
      }
      if (!READING.has(method)) return undefined;
      if (url.path === "/admin" || url.path.startsWith("/admin/")) return forward(matched);
      const operation = match.route?.operation;
      switch (operation?.access.kind) {
        case undefined:
        case "health":
          return undefined;
        case "key":
          return readByKey(matched);
        case "public":
        case "file":
          if (isOfPrivatePage(matched)) {
            // For an answer of this node, without a primary or beyond the limit.
            context.isSealed = true;
            return forward(matched);
          }
          return operation?.isOfPrimary ? forward(matched) : undefined;
        default:
          return forward(matched);
      }
    },

    catchUp(matched) {
      const { caller, request } = matched.context;
      if (caller.kind !== "key" || !READING.has(request.method)) return undefined;
      const least = request.headers.get(MIN_TXID);
      if (least === null) return undefined;
      if (!/^[0-9a-f]{1,16}$/i.test(least)) return Promise.resolve(malformedTxid());
      const txid = Number.parseInt(least, 16);
      if (followed.txid() >= txid) return undefined;
      return waiting < WAITING_MAX ? reach(txid, matched).catch(toProblem) : forwardRead(matched);
    },

    asOf() {
      const time = followed.asOf();
      if (time !== shown.time) shown = { time, text: time === undefined ? undefined : toIso(time) };
      return shown.text;
    },
  };
}

/** Private pages, as far as the replica knows of them. */
interface PrivatePages {
  /** Slugs, current and earlier ones. */
  slugs: ReadonlySet<string>;
  /** True if the page at the root of the public address is one of them. */
  isAtRoot: boolean;
}

/**
 * Returns a function that is true for requests of private pages: only the primary knows of sessions, and at once of
 * links that were revoked. The pages are read again after a change of a page's addresses or rules, not for each request.
 */
function createPrivatePages({ db, signals }: Ctx): (matched: MatchedRequest) => boolean {
  let known: PrivatePages | undefined;
  let isStale = true;
  signals.addressesChanged.on(() => (isStale = true));

  function refresh(): void {
    try {
      const page = findDefaultPage(db, {});
      const isAtRoot = page?.visibility === "private" && isServed(page);
      known = { slugs: new Set(listPrivateSlugs(db, {}).map(({ slug }) => slug)), isAtRoot };
      isStale = false;
    } catch {
      // The earlier pages count until the file can be read again.
    }
  }

  return ({ context: { domain, request }, match }) => {
    if (match.route === undefined) return false;
    const { slug } = match.params;
    if (slug === undefined && match.route.operation.onCustomDomain !== "page") return false;
    if (isStale) refresh();
    // Without data the replica answers 503, and shows nothing to whoever has no cookie.
    if (known === undefined) return request.headers.has("cookie");
    if (slug !== undefined) return known.slugs.has(slug);
    return domain ? !domain.isPublic : known.isAtRoot;
  };
}

function malformedTxid(): Problem {
  return new Problem(
    "invalid_request",
    "The header Allclear-Min-Txid is not a number of at most 16 hexadecimal digits.",
  );
}

function isHeartbeat({ route }: MatchedRequest["match"]): boolean {
  const kind = route?.operation.access.kind;
  return kind === "heartbeat" || kind === "imported-heartbeat";
}

/** Requests under way at the same time. */
const FORWARDS_MAX = 64;
/** Time until the primary's answer begins, and longest silence in it, in ms. */
const FORWARD_DEADLINE_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

/** Errors before anything was sent. */
const NOT_CONNECTED = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "EADDRNOTAVAIL",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "FailedToOpenSocket",
]);

const OUTCOMES = [
  "answered",
  "busy",
  "no_primary",
  "not_connected",
  "refused",
  "failed",
  "timed_out",
] as const;
type ForwardOutcome = (typeof OUTCOMES)[number];

/** Request for the primary. */
interface Forwarded {
  method: string;
  /** Origin, path and query as the client sent them. */
  origin: string;
  pathAndQuery: string;
  headers: Headers;
  /** The whole body; undefined without one. */
  body: Uint8Array | undefined;
  client: ClientAddress;
}

/** A request that the primary did not answer. */
class NotForwarded {
  constructor(
    readonly outcome: ForwardOutcome,
    readonly problem: Problem,
  ) {}
}

export interface Forwarder {
  /** Sends a request once; it is never repeated, since its effect may be unknown. Never rejects. */
  send(request: Forwarded): Promise<Response | NotForwarded>;
  /** Number of requests since the start, by outcome. */
  counts(): Readonly<Record<ForwardOutcome, number>>;
}

interface ForwarderDependencies {
  clock: Clock;
  log: Log;
  /** Token of the fleet. */
  token: string;
  /** Headers of clients that the primary must not believe, in lower case. */
  droppedHeaders?: readonly string[];
  /** Returns the URL of the primary's private listener; undefined while none is known. */
  primary(): string | undefined;
}

/** Creates the client of the primary's application. */
export function createForwarder({
  clock,
  log,
  token,
  droppedHeaders = [],
  primary,
}: ForwarderDependencies): Forwarder {
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<
    ForwardOutcome,
    number
  >;
  let underWay = 0;

  function refuse(outcome: ForwardOutcome, detail: string, cause?: unknown): NotForwarded {
    counts[outcome] += 1;
    if (cause !== undefined) log.warn({ err: cause }, "a request could not be forwarded");
    return new NotForwarded(outcome, unavailable(detail, RETRY_AFTER_SECONDS));
  }

  function explain(error: unknown): NotForwarded {
    if (error instanceof Overdue) return refuse("timed_out", UNKNOWN_OUTCOME, error);
    if (error instanceof Refused) return refuse("refused", UNREACHABLE, error);
    const { code = "" } = error as NodeJS.ErrnoException;
    return NOT_CONNECTED.has(code)
      ? refuse("not_connected", UNREACHABLE, error)
      : refuse("failed", UNKNOWN_OUTCOME, error);
  }

  return {
    async send(request) {
      const address = primary();
      if (address === undefined) return refuse("no_primary", UNREACHABLE);
      if (underWay >= FORWARDS_MAX) {
        return refuse("busy", "Too many requests are being forwarded. Try again.");
      }
      underWay += 1;
      const release = onceOnly(() => (underWay -= 1));
      try {
        const { method, body } = request;
        const received = await requestNode(
          {
            address,
            method,
            pathAndQuery: FORWARD_PATH + request.pathAndQuery,
            headers: headersFor(request, droppedHeaders),
            body,
            token,
            deadlineMs: FORWARD_DEADLINE_MS,
          },
          clock,
        );
        received.on("close", release);
        received.on("error", (error) =>
          log.warn({ err: error }, "the primary's answer to a forwarded request is not complete"),
        );
        const headers = headersOf(received);
        if (!headers.has(FORWARDED_HEADER)) {
          received.destroy();
          const reason = describeRefusal(received.statusCode);
          throw new Refused(`${address} did not answer as the primary, but with ${reason}`);
        }
        counts.answered += 1;
        return toResponse(received, headers, method, clock);
      } catch (error) {
        release();
        return explain(error);
      }
    },
    counts: () => counts,
  };
}

const UNREACHABLE = "The primary cannot be reached, so nothing was changed. Try again.";
const UNKNOWN_OUTCOME =
  "The primary did not answer. A change may have been made: look before you repeat it, or repeat it with the same Idempotency-Key.";

/** The address answered, but not as this fleet's primary. */
class Refused extends Error {}

/** Returns the headers of the client without `dropped`, and those between nodes, which replace the client's. */
function headersFor(
  { headers, origin, client }: Forwarded,
  dropped: readonly string[],
): Record<string, string> {
  const own = ["x-forwarded-for", "forwarded", "host", "content-length", CERTAIN_HEADER];
  return {
    ...Object.fromEntries(withoutConnection(headers, [...own, ...dropped])),
    [ORIGIN_HEADER]: origin,
    [CLIENT_HEADER]: client.ip,
    ...(client.isDoubtful === false && { [CERTAIN_HEADER]: "1" }),
  };
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

function toResponse(
  received: IncomingMessage,
  headers: Headers,
  method: string,
  clock: Clock,
): Response {
  const { statusCode: status = 0 } = received;
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  if (isEmpty) received.destroy();
  const body = isEmpty ? null : bodyOf(received, clock, FORWARD_DEADLINE_MS);
  const kept = withoutConnection(headers, ["date", FORWARDED_HEADER]);
  return new Response(body, { status, headers: kept });
}

function onceOnly(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

/** The primary may have a route that this version lacks. */
const UNKNOWN_BODY: BodyLimits = {};

/**
 * Returns the limits of a body. JSON that the primary may read as a whole of some callers, which this node does not
 * know, is forwarded as a whole as far as any is.
 */
function forwardedLimits(headers: Headers, body: DeclaredBody | undefined): BodyLimits | undefined {
  const length = Number(headers.get("content-length"));
  const canBeWhole = body?.ofCaller !== undefined && isOfType(headers, "application/json");
  return canBeWhole && length > 0 && length <= BODY_MAX_BYTES ? {} : body;
}

/**
 * Reads the part of a body that the route reads; undefined without one. Returns a Problem for more than
 * `BODY_MAX_BYTES`, and without room for it. Throws a Problem if it does not arrive whole in time.
 */
async function readForwardedBody({
  context,
  match,
  bodies,
}: MatchedRequest): Promise<Uint8Array<ArrayBuffer> | Problem | undefined> {
  const { request } = context;
  const declared: BodyLimits | undefined = match.route
    ? forwardedLimits(request.headers, match.route.body)
    : UNKNOWN_BODY;
  if (request.method === "GET" || request.method === "HEAD" || !declared) return undefined;
  if (!hasBody(request.headers)) return undefined;
  const problem = bodyLengthProblem(request.headers, declared);
  if (problem) return problem;
  const { beginningBytes } = declared;
  const isWhole = beginningBytes === undefined;
  if (isWhole && Number(request.headers.get("content-length")) > BODY_MAX_BYTES) {
    return unavailable(
      `A replica does not forward bodies of more than ${BODY_MAX_BYTES} bytes. Send the request to the primary.`,
      RETRY_AFTER_SECONDS,
    );
  }
  const tooMuch = bodies.reserve(context, declared);
  if (tooMuch) return tooMuch;
  const bytes = isWhole
    ? await readBytes(request, context)
    : await readBeginning(request, context, beginningBytes);
  return bytes as Uint8Array<ArrayBuffer>;
}

/** Returns a request again whose body was read. */
function sentAgain(request: Request, body: Uint8Array<ArrayBuffer> | undefined): Request {
  const headers = new Headers(request.headers);
  headers.delete("transfer-encoding");
  headers.set("content-length", String(body?.byteLength ?? 0));
  const { method, url } = request;
  return new Request(url, { method, headers, ...(body && { body }) });
}

/** Age of a replica's data from which its pages show it. */
const SHOWN_FROM_MS = MINUTE_MS;

/** Makes pages show the time of their data while it is old. `asOf` returns it in unix ms. */
export function showDelay(ctx: Ctx, asOf: () => number | undefined): Timer {
  return ctx.clock.every(SECOND_MS, () => {
    const time = asOf();
    const isOld = time !== undefined && ctx.clock.now() - time >= SHOWN_FROM_MS;
    // Pages show minutes: they are not made again for each second.
    const shown = isOld ? time - (time % MINUTE_MS) : undefined;
    if (shown === ctx.shownAsOf) return;
    ctx.shownAsOf = shown;
    // All pages are made again.
    ctx.signals.settingsChanged.emit();
  });
}
