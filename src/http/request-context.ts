import { type Actor, userActor } from "../base/actor";
import type { ClientAddress } from "../base/client-address";
import type { Timer } from "../base/clock";
import type { Ctx } from "../context";
import { outsideAddressOf } from "../egress/policy";
import type { LiveSession } from "../features/auth/sessions";
import type { Credential } from "../features/keys/directory";
import type { Charge } from "../features/limits/limiter";
import type { TokenOwner } from "../features/monitors/tokens";
import type { DomainPage } from "../features/pages/addresses";
import type { ProxyUser } from "../features/users/identities";
import type { Cdn } from "./cdn";
import type { DeclaredRoute } from "./operation";

/**
 * Caller of a request: the bearer of a live key, a signed-in user, a job with a heartbeat token, the agent of a location, a
 * person with a link from a mail, a program with the token for reports about mails, or a client known by its
 * address only.
 */
export type Caller =
  | { kind: "key"; credential: Credential }
  | { kind: "session"; session: LiveSession }
  | { kind: "job"; owner: TokenOwner }
  | { kind: "location"; locationId: string }
  | { kind: "link"; bucket: string }
  | { kind: "reporter" }
  | { kind: "address" };

/** A request body that is under way. */
interface IncomingBody {
  /** True if the answer is given before the whole body was read. */
  isUnread: boolean;
  /** Gives back the room that was reserved; calling it again has no effect. */
  release(): void;
  /** Runs `expire` once the body has taken too long. Called when its reading begins. */
  startDeadline(expire: () => void): Timer;
}

/** Functions for facts that are too expensive to find out for every request. */
export interface ContextDependencies {
  addressOf(request: Request, peer: PeerOf): ClientAddress;
  /** Throws a Problem if the caller's credential is no longer valid. */
  confirm(context: RequestContext): void;
  cdn?: Cdn | undefined;
  asOf?: (() => string | undefined) | undefined;
  /** Returns Strict-Transport-Security for a request by its absolute URL; none for hosts of others. */
  hstsOf(url: string, domain: DomainPage | undefined): string | undefined;
}

/**
 * Returns the address of the socket that a request came from, which costs a system call; or the client address that
 * another node of the fleet has found, with its doubt.
 */
export type PeerOf = (request: Request) => string | ClientAddress;

/** Caller without a credential. */
export const ADDRESS_ONLY: Caller = { kind: "address" };

/**
 * Facts about one request, which the gateway finds before its handler runs. One object per request, without closures,
 * since the gateway's own work is a large part of the cost of a small answer.
 */
export class RequestContext {
  /** Undefined where no declared route matched. */
  route: DeclaredRoute | undefined = undefined;
  caller: Caller = ADDRESS_ONLY;
  /** The page whose custom domain the request was sent to; undefined on every other host. */
  domain: DomainPage | undefined = undefined;
  /** Path for which the sent one is another spelling; undefined if a route has the sent one. */
  rightPath: string | undefined = undefined;
  /** Charge of the request; undefined for static files, which are free. */
  charge: Charge | undefined = undefined;
  /** The body, once room was reserved for it; undefined for a request without one. */
  body: IncomingBody | undefined = undefined;
  /** SHA-256 of a body that was sent with an idempotency key, once it was read. */
  bodyHash: Buffer | undefined = undefined;
  /** Public page whose content the answer shows, or whose part is missing. Caches drop the answer by its id. */
  shownPageId: string | undefined = undefined;
  /** Private page to which the visitor was admitted. */
  admittedPageId: string | undefined = undefined;
  /** True if the answer concerns a private page, or a page that does not exist, which look alike. */
  isSealed = false;
  /** Token of the link in the path by which a visitor sees a private page. */
  link: string | undefined = undefined;
  /** User whom a proxy in front of the dashboard names; undefined elsewhere, and without one. */
  proxyUser: ProxyUser | undefined = undefined;
  /** Token of the session that this request has begun, or found without a cookie. The browser gets it with the answer. */
  begunSession: string | undefined = undefined;
  /** True if the response already has the headers of every response. */
  hasRequestHeaders = false;
  /** Arrival on the monotonic clock; set only if requests are logged. */
  since = 0;
  #address: ClientAddress | undefined = undefined;
  readonly #peer: PeerOf;
  readonly #deps: ContextDependencies;

  constructor(
    readonly request: Request,
    readonly requestId: string,
    /** Arrival in unix ms. Reading a body takes time: code that runs later reads the clock. */
    readonly now: number,
    peer: PeerOf,
    deps: ContextDependencies,
  ) {
    this.#peer = peer;
    this.#deps = deps;
  }

  /** Client address. Reading it costs a system call. */
  get address(): ClientAddress {
    this.#address ??= this.#deps.addressOf(this.request, this.#peer);
    return this.#address;
  }

  /**
   * Address of the socket that the request came from, which may be that of a proxy; undefined for a request that another
   * node passes on. Reading it costs a system call.
   */
  get peer(): string | undefined {
    const peer = this.#peer(this.request);
    return typeof peer === "string" ? peer : undefined;
  }

  /** CDN in front of this server; undefined without `--cdn`. */
  get cdn(): Cdn | undefined {
    return this.#deps.cdn;
  }

  /** Time of the data of a replica, as its answers show it; undefined while not known, and on other nodes. */
  get asOf(): string | undefined {
    return this.#deps.asOf?.();
  }

  /** Value of Strict-Transport-Security; undefined if the answer has none. */
  get hsts(): string | undefined {
    return this.#deps.hstsOf(this.request.url, this.domain);
  }

  /** Notes the public page that the answer shows. Without one, the answer is sealed. */
  noteShown(pageId: string | undefined): void {
    this.shownPageId = pageId;
    this.isSealed = pageId === undefined;
  }

  /**
   * Returns true for the answer that a part of a public page is missing. Caches may store it, so it has the same
   * form for every client.
   */
  isMissingPart(status: number): boolean {
    if ((status !== 404 && status !== 410) || this.shownPageId === undefined) return false;
    const { method } = this.request;
    return method === "GET" || method === "HEAD";
  }

  /** Returns the id of the request if an answer with this status may show it; undefined if a CDN stores the answer. */
  shownRequestId(status: number): string | undefined {
    return this.cdn && this.isMissingPart(status) ? undefined : this.requestId;
  }

  /**
   * Checks the caller's credential again: a key may have been revoked, or a session ended, while the body was read.
   * Throws a Problem if the credential is no longer valid.
   */
  confirm(): void {
    // Called once the body has been read.
    this.body?.release();
    this.#deps.confirm(this);
  }
}

/** Returns a source of ids that are unique in this run of the server: random bytes and a count. */
export function createRequestIds(random: Ctx["random"]): () => string {
  const beginning = `req_${Buffer.from(random(8)).toString("hex")}`;
  let count = 0;
  return () => beginning + (++count).toString(36);
}

/** Returns the credential that a request to a key-protected route carries. Throws for other routes. */
export function bearerOf({ caller }: RequestContext): Credential {
  if (caller.kind !== "key") throw new Error("the route is not protected by a key");
  return caller.credential;
}

/** Returns the session of a request to a route of the dashboard. Throws for other routes. */
export function sessionOf({ caller }: RequestContext): LiveSession {
  if (caller.kind !== "session") throw new Error("the route needs no session");
  return caller.session;
}

/** Returns the time zone of the user of a session. Throws for other callers. */
export function zoneOf(requestContext: RequestContext): string {
  return sessionOf(requestContext).user.timeZone;
}

/** Returns the token with which a job sent a heartbeat, and its monitor. Throws for other routes. */
export function tokenOwnerOf({ caller }: RequestContext): TokenOwner {
  if (caller.kind !== "job") throw new Error("the route takes no heartbeats");
  return caller.owner;
}

/** Returns the token with which a job calls, and its monitor; undefined for other callers. */
export function findTokenOwner({ caller }: RequestContext): TokenOwner | undefined {
  return caller.kind === "job" ? caller.owner : undefined;
}

/** Returns true if a request came from a global address. */
export function isFromOutside({ address }: RequestContext): boolean {
  return outsideAddressOf(address.ip) !== undefined;
}

/** Returns the caller as the actor of a change: a user or a key, with the client address. */
export function actorOf(requestContext: RequestContext): Actor {
  const { caller, address } = requestContext;
  if (caller.kind === "session") return userActor(caller.session.user, address.ip);
  const { key } = bearerOf(requestContext);
  return { kind: "key", id: key.id, label: key.name, ip: address.ip };
}

export interface SplitUrl {
  path: string;
  query: string;
}

/**
 * Returns path and query of an absolute URL as they were sent; undefined if a bad Host left the URL
 * relative. `URL.parse` would resolve dot segments and replace backslashes.
 */
export function splitUrl(url: string): SplitUrl | undefined {
  if (!url.startsWith("http")) return undefined;
  const pathAt = url.indexOf("/", url.indexOf("://") + 3);
  if (pathAt === -1) return undefined;
  const queryAt = url.indexOf("?", pathAt);
  if (queryAt === -1) return { path: url.slice(pathAt), query: "" };
  return { path: url.slice(pathAt, queryAt), query: url.slice(queryAt + 1) };
}

/** Returns the parameters of a request's query. */
export function queryOf({ url }: Request): URLSearchParams {
  return new URLSearchParams(splitUrl(url)?.query);
}

/** Returns the decoded segments of a request's path, which can be decoded. A slash at its end adds none. */
export function segmentsOf({ url }: Request): string[] {
  const { path } = splitUrl(url) ?? { path: "/" };
  return withoutSlash(path).split("/").slice(1).map(decodeURIComponent);
}

/** Returns a path without one slash at its end. */
export function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
