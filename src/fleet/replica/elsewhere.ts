import { LRUCache } from "lru-cache";
import type { Ctx } from "../../context";
import { notFound, Problem } from "../../base/errors";
import type { Limiter } from "../../features/limits/limiter";
import { findPageBySlug } from "../../features/pages/store";
import type { Elsewhere, ElsewhereOutcome, MatchedRequest } from "../../http/elsewhere";
import { hasSessionCookie } from "../../http/cookies";
import { rateLimited } from "../../http/gateway-answers";
import { segmentsOf } from "../../http/request-url";
import { toProblem } from "../../http/problems";
import { sha256Hex } from "../../base/hash";
import { toIso } from "../../base/time";
import { readForwardedBody, sentAgain } from "./forwarded-body";
import { type Forwarder, NotForwarded } from "./forward";
import { keysUnknown } from "./keys-unknown";

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

/** State of the database that a replica follows. */
export interface Followed {
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
  const { clock, db } = ctx;
  const { limiter, forwarder, followed } = deps;
  /** Hash of an Authorization header → monotonic time until which its reads are forwarded. */
  const writers = new LRUCache<string, number>({ max: WRITERS_MAX });
  let waiting = 0;
  /** Time that answers show. It changes with each listing of the store, so few answers need a new text. */
  let shown: { time: number | undefined; text: string | undefined } = {
    time: undefined,
    text: undefined,
  };

  function forward(matched: MatchedRequest): Problem | Promise<ElsewhereOutcome> {
    const { context } = matched;
    context.charge = limiter.chargeForward(context.address);
    if (!context.charge.decision.isAllowed) return rateLimited(context.charge);
    if (REPLACED_PATH.test(matched.url.path)) return notFound("path");
    return send(matched).catch(toProblem);
  }

  async function send(matched: MatchedRequest): Promise<ElsewhereOutcome> {
    const { context, match, url } = matched;
    const { request } = context;
    const body = await readForwardedBody(matched);
    if (body instanceof Problem) return body;
    noteWrite(request);
    const answer = await forwarder.send({
      method: request.method,
      origin: request.url.slice(0, request.url.indexOf("/", request.url.indexOf("://") + 3)),
      pathAndQuery: url.query === "" ? url.path : `${url.path}?${url.query}`,
      headers: request.headers,
      body,
      client: context.address.ip,
    });
    noteWrite(request);
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
  function readByKey(matched: MatchedRequest): Problem | Promise<ElsewhereOutcome> | undefined {
    if (hasJustWritten(matched.context.request)) return forward(matched);
    return followed.acceptsKeys() ? undefined : keysUnknown();
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

  /** Returns true if only the primary knows if the caller may see the page. */
  function isPrivatePage({ context, match }: MatchedRequest): boolean {
    if (!hasSessionCookie(ctx, context.request)) return false;
    const at = match.route?.path.split("/").indexOf(":slug") ?? -1;
    if (at === -1) return false;
    const slug = segmentsOf(context.request)[at - 1] ?? "";
    try {
      return findPageBySlug(db, { slug })?.visibility !== "public";
    } catch {
      // The file cannot be read at the moment.
      return true;
    }
  }

  return {
    answer(matched) {
      const { context, match, url } = matched;
      const { method } = context.request;
      if (CHANGING.has(method)) return forward(matched);
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
          return operation?.isOfPrimary || isPrivatePage(matched) ? forward(matched) : undefined;
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
