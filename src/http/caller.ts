import { type Role, roleAllows } from "../base/actor";
import { type ErrorCode, notFound, Problem } from "../base/errors";
import { toIso } from "../base/time";
import type { Ctx } from "../context";
import type { LiveSession, Sessions } from "../features/auth/sessions";
import type { Credential, KeyDirectory } from "../features/keys/directory";
import { isKeyValue, keyState, missingScope } from "../features/keys/rules";
import type { Scope } from "../features/keys/scopes";
import type { LocationDirectory } from "../features/locations/tokens";
import type { Charge, Limiter } from "../features/limits/limiter";
import type { HeartbeatDirectory } from "../features/monitors/tokens";
import type { ProxyUser } from "../features/users/identities";
import { toProblem } from "./answers";
import { findAnySession } from "./cookies";
import type { BearerReader } from "./elysia";
import type { Access, DeclaredRoute } from "./operation";
import { ADDRESS_ONLY, type Caller, type RequestContext, splitUrl } from "./request-context";
import type { Match } from "./route-table";

/** Path of the dashboard's sign-in. */
export const SIGN_IN_PATH = "/admin/sign-in";

/** Path of the screen that sets up a second factor. */
export const SECOND_FACTOR_PATH = "/admin/settings/account/second-factor";

interface Authorisation {
  /**
   * Finds the caller of a request. Returns a Problem if the request is rejected, or what must be done before the caller
   * is known: then it is called again.
   */
  authorise(context: RequestContext, match: Match): Problem | SessionChange | undefined;
  /** Checks the caller again, as of now. Throws a Problem if the caller's rights have ended. */
  confirm(context: RequestContext): void;
}

/** Sources of callers, found by the credential that they present. */
export interface CallerSources {
  credentials: Credentials;
  sessions: Sessions;
  heartbeats: HeartbeatDirectory;
  locations: LocationDirectory;
}

/** Begins or ends the session of a request. Resolves to a Problem if the request is rejected. */
export type SessionChange = () => Promise<Problem | undefined>;

/** Requests whose headers name a user and were ignored, by reason: another peer than the proxy, or no secret or a wrong one. */
export type IgnoredIdentities = Record<"peer" | "secret", number>;

/** Reads the user whom a proxy in front of the dashboard names, and compares sessions with it. */
export interface IdentityHeaders {
  /** Returns the user whom the headers of a request name; undefined without one. Throws a Problem for wrong headers. */
  read(context: RequestContext): ProxyUser | undefined;
  /**
   * Compares the session of a request with the user whom the proxy names, and finds that of a client without cookies.
   * Returns undefined if both agree or the session does not depend on the proxy, a Problem for a user who is not let in,
   * or what begins or ends the session.
   */
  reconcile(
    context: RequestContext,
    session: LiveSession | undefined,
  ): Problem | SessionChange | undefined;
  /** Number of requests since the start whose headers were ignored. */
  ignored(): IgnoredIdentities;
}

/** Path below which identity headers are read. */
const DASHBOARD_PATH = "/admin";

/**
 * Authorises requests by the declarations of their routes, without reading a body. `sources` is called only
 * for routes that need a credential. `identityHeaders` returns undefined before the dashboard is loaded.
 */
export function createAuthorisation(
  ctx: Ctx,
  sources: () => CallerSources,
  identityHeaders: () => IdentityHeaders | undefined,
): Authorisation {
  function findCaller(
    context: RequestContext,
    route: DeclaredRoute,
    now: number,
  ): Caller | Problem {
    const { request, domain } = context;
    try {
      const { access } = route.operation;
      switch (access.kind) {
        case "key": {
          const header = request.headers.get("authorization");
          const { credentials } = sources();
          const credential = access.takesBasic
            ? authenticateBasic(credentials, header, now)
            : credentials.authenticate(header, now);
          return credential instanceof Problem ? credential : { kind: "key", credential };
        }
        case "session": {
          const { sessions } = sources();
          const session =
            context.begunSession === undefined
              ? findAnySession(ctx, sessions, request, now)
              : sessions.find(context.begunSession, now);
          return session ? { kind: "session", session } : signInRequired();
        }
        case "heartbeat": {
          const { heartbeats } = sources();
          return findByToken(request, route, HEARTBEAT_TOKEN, (token) => {
            const owner = heartbeats.find(token);
            return owner && { kind: "job", owner };
          });
        }
        case "imported-heartbeat": {
          const { heartbeats } = sources();
          for (const token of access.tokensOf(request)) {
            const owner = heartbeats.findImported(token);
            if (owner) return { kind: "job", owner };
          }
          return ADDRESS_ONLY;
        }
        case "location": {
          const { locations } = sources();
          return findByToken(request, route, LOCATION_TOKEN, (token) => {
            const locationId = locations.find(token, now);
            return locationId === undefined ? undefined : { kind: "location", locationId };
          });
        }
        case "link": {
          const bucket = access.find(tokenInPath(request, route), { domain, now });
          return bucket instanceof Problem ? bucket : { kind: "link", bucket };
        }
        case "reporter":
          return findByToken(request, route, REPORT_TOKEN, (token) =>
            access.isToken(token) ? { kind: "reporter" } : undefined,
          );
        default:
          return ADDRESS_ONLY;
      }
    } catch (error) {
      // After a change, the next look-up reads keys and tokens from the database, which may fail.
      return toProblem(error);
    }
  }

  /** Compares a caller whom `findCaller` has found with the user whom a proxy in front of the dashboard names. */
  function reconcileCaller(
    context: RequestContext,
    route: DeclaredRoute,
    found: Caller | Problem,
  ): Caller | Problem | SessionChange {
    const { access } = route.operation;
    const reader = route.path.startsWith(DASHBOARD_PATH) ? identityHeaders() : undefined;
    if (!reader) return found;
    try {
      context.proxyUser = reader.read(context);
      if (access.kind !== "session") return found;
      const isSession = !(found instanceof Problem) && found.kind === "session";
      const outcome = reader.reconcile(context, isSession ? found.session : undefined);
      const isResumed = context.begunSession !== undefined;
      return outcome ?? (isResumed ? findCaller(context, route, context.now) : found);
    } catch (error) {
      return toProblem(error);
    }
  }

  return {
    authorise(context, match) {
      const { request } = context;
      const { route } = match;
      if (!route) return noRoute(request.method, match.allowed);
      const { access } = route.operation;
      const found = findCaller(context, route, context.now);
      const takesForms = access.kind === "session" || access.kind === "public";
      const crossSite = takesForms ? crossSiteProblem(ctx, request) : undefined;
      // A form of another site neither begins nor ends a session.
      const caller = takesForms && !crossSite ? reconcileCaller(context, route, found) : found;
      if (caller instanceof Problem || typeof caller === "function") return crossSite ?? caller;
      context.caller = caller;
      return crossSite ?? permissionProblem(access, caller);
    },

    confirm(context) {
      const { route } = context;
      if (!route) return;
      const caller = findCaller(context, route, ctx.clock.now());
      const problem =
        caller instanceof Problem ? caller : permissionProblem(route.operation.access, caller);
      if (problem) throw problem;
      // The token may have been ended.
      if (route.operation.access.kind === "imported-heartbeat") context.caller = caller as Caller;
    },
  };
}

interface Credentials {
  /** Returns the live credential of an `Authorization` header at `now`, in unix ms; else a Problem. */
  authenticate(authorization: string | null, now: number): Credential | Problem;
}

// RFC 6750's credentials: the scheme in any case, exactly one space, one token of RFC 7235's alphabet.
const BEARER_CREDENTIALS = /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i;
/** Start of nearly every header, for a check without a regular expression. */
const USUAL_START = "Bearer allclear_";
const BEARER_SCHEME = /^bearer +\S/i;

/** Reads and checks `Authorization` headers, in memory only. */
export function createCredentials(directory: KeyDirectory, readBearer: BearerReader): Credentials {
  return {
    authenticate(authorization, now) {
      if (authorization === null) return missingKey();
      const credentials = canonicalCredentials(authorization);
      if (credentials === undefined) {
        return BEARER_SCHEME.test(authorization) ? invalidKey() : missingKey();
      }
      const value = readBearer(credentials);
      if (value === undefined || !isKeyValue(value)) return invalidKey();
      const credential = directory.find(value);
      if (!credential) return invalidKey();
      const state = keyState(credential, now);
      return state.live ? credential : deadKey(state);
    },
  };
}

/** Returns the header as `Bearer <token>`; undefined unless it holds exactly one well-formed token. */
function canonicalCredentials(authorization: string): string | undefined {
  // The usual header already has this form. `isKeyValue` checks the rest of it.
  if (authorization.startsWith(USUAL_START)) return authorization;
  const token = readBearerToken(authorization);
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** Returns the token of bearer credentials; undefined unless there is exactly one well-formed token. */
function readBearerToken(authorization: string): string | undefined {
  return BEARER_CREDENTIALS.exec(authorization)?.[1];
}

function missingKey(): Problem {
  return challenge("missing_key", "Send an API key in the header Authorization: Bearer <API_KEY>.");
}

function invalidKey(): Problem {
  return rejectedKey("invalid_key", "The API key is not one of this server's.");
}

function deadKey(state: {
  code: "expired_key" | "revoked_key";
  since: number;
  isValueOnly: boolean;
}): Problem {
  const at = toIso(state.since);
  if (state.code === "revoked_key") {
    return rejectedKey("revoked_key", `The API key was revoked at ${at}.`);
  }
  return rejectedKey(
    "expired_key",
    state.isValueOnly
      ? `This value of the API key was replaced and ended at ${at}. Use the newest value.`
      : `The API key expired at ${at}.`,
  );
}

function rejectedKey(code: ErrorCode, detail: string): Problem {
  return challenge(code, detail, `, error="invalid_token", error_description="${detail}"`);
}

/** Returns a problem with RFC 6750's challenge, to which `parameters` are added. */
function challenge(code: ErrorCode, detail: string, parameters = ""): Problem {
  return new Problem(code, detail, {
    headers: { "WWW-Authenticate": `Bearer realm="allclear"${parameters}` },
  });
}

const BASIC_CREDENTIALS = /^basic +([A-Za-z0-9+/]+=*)$/i;

/**
 * Authenticates a key that is sent as bearer token or as the password of Basic authentication, whatever the
 * user name. Rejections ask for Basic authentication.
 */
function authenticateBasic(
  credentials: Credentials,
  authorization: string | null,
  now: number,
): Credential | Problem {
  const encoded = BASIC_CREDENTIALS.exec(authorization ?? "")?.[1];
  const [, password] = /^[^:]*:(.*)$/s.exec(atobOrEmpty(encoded)) ?? [];
  const found = credentials.authenticate(
    password === undefined ? authorization : `Bearer ${password}`,
    now,
  );
  if (!(found instanceof Problem)) return found;
  const headers = { "WWW-Authenticate": 'Basic realm="allclear", charset="UTF-8"' };
  return new Problem(found.code, found.message, { headers });
}

/** Decodes Base64; empty for no text. */
function atobOrEmpty(encoded = ""): string {
  return Buffer.from(encoded, "base64").toString("utf8");
}

export function signInRequired(detail = "Sign in to the dashboard. Nothing was changed."): Problem {
  return new Problem("sign_in_required", detail, {
    headers: { "WWW-Authenticate": `Cookie realm="allclear", form-action="${SIGN_IN_PATH}"` },
  });
}

const TOKEN_SEGMENT = ":token";

/** Returns the token in a request's path, at the place of `:token` in the route's. */
function tokenInPath(request: Request, route: DeclaredRoute): string {
  const { path } = splitUrl(request.url) ?? { path: "" };
  return path.split("/")[route.path.split("/").indexOf(TOKEN_SEGMENT)] ?? "";
}

/** Returns true if the caller of a route is identified by a token in the path. */
export function hasTokenInPath({ path }: Pick<DeclaredRoute, "path">): boolean {
  return path.split("/").includes(TOKEN_SEGMENT);
}

/** Texts about tokens in error messages: the name of the token, and the detail for an unknown one. */
interface TokenTexts {
  name: string;
  unknown: string;
}
const HEARTBEAT_TOKEN: TokenTexts = {
  name: "the heartbeat token",
  unknown: "The heartbeat token is unknown: no monitor of this server has it.",
};
const LOCATION_TOKEN: TokenTexts = {
  name: "the token of the location",
  unknown: "The token is not that of a location of this server, or has ended.",
};
const REPORT_TOKEN: TokenTexts = {
  name: "the token for reports",
  unknown: "The token for reports about mails is unknown, or was replaced.",
};

/**
 * Returns the caller whose token is in the path of a request, or else its bearer token. Otherwise a Problem: 404 for an
 * unknown token in the path, 401 for an unknown bearer token or without one.
 */
function findByToken(
  request: Request,
  route: DeclaredRoute,
  { name, unknown }: TokenTexts,
  find: (token: string) => Caller | undefined,
): Caller | Problem {
  if (hasTokenInPath(route)) {
    return find(tokenInPath(request, route)) ?? new Problem("not_found", unknown);
  }
  const header = request.headers.get("authorization");
  const token = header === null ? undefined : readBearerToken(header);
  if (token === undefined) {
    return challenge("missing_key", `Send ${name} in the header Authorization: Bearer <TOKEN>.`);
  }
  return find(token) ?? challenge("invalid_key", unknown, `, error="invalid_token"`);
}

function noRoute(method: string, allowed: readonly string[]): Problem {
  if (allowed.length === 0) return notFound("path");
  const list = allowed.join(", ");
  return new Problem(
    "method_not_allowed",
    `${method} is not a method of this path. Its methods are ${list}.`,
    { headers: { Allow: list } },
  );
}

/** Returns the problem of a caller without a scope or role of the route. */
export function permissionProblem(access: Access, caller: Caller): Problem | undefined {
  if (access.kind === "key" && caller.kind === "key") {
    return scopeProblem(caller.credential, access.scopes);
  }
  if (access.kind !== "session" || caller.kind !== "session") return undefined;
  const { user, isForSetUpOnly } = caller.session;
  return isForSetUpOnly && !access.isOpenToSetUp
    ? secondFactorRequired()
    : roleProblem(user.role, access.role);
}

/** Returns 403 if the credential lacks one of the scopes. */
function scopeProblem(credential: Credential, needed: readonly Scope[]): Problem | undefined {
  const missing = missingScope(credential.key.scopes, needed);
  if (missing === undefined) return undefined;
  return challenge(
    "insufficient_scope",
    `This endpoint needs the scope ${missing}, which the API key does not have.`,
    `, error="insufficient_scope", scope="${missing}"`,
  );
}

function roleProblem(held: Role, needed: Role): Problem | undefined {
  if (roleAllows(held, needed)) return undefined;
  return new Problem(
    "insufficient_role",
    `This page needs the ${needed} role, and your role is ${held}. Ask an owner to change your role.`,
  );
}

function secondFactorRequired(): Problem {
  return new Problem(
    "second_factor_required",
    "Your role needs a second factor. Set it up first. Nothing was changed.",
    { next: { path: SECOND_FACTOR_PATH, label: "Set up the second factor" } },
  );
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Returns true for a request whose method changes nothing. */
export function isSafeMethod({ method }: Request): boolean {
  return SAFE_METHODS.has(method);
}

/** Returns 403 for a form that a page of another site sent: browsers add the session cookie to it. */
function crossSiteProblem({ baseUrl }: Ctx, request: Request): Problem | undefined {
  if (isSafeMethod(request) || isFromOwnPage(request, baseUrl)) return undefined;
  return new Problem(
    "cross_site_request",
    "This form was not sent from a page of this server, so nothing was changed. Open the dashboard and send it from there.",
  );
}

/**
 * Browsers name the sending site in `Sec-Fetch-Site`, except over plain HTTP. There the `Origin` must be
 * the host of the request or the public address. Returns false without either header.
 */
function isFromOwnPage({ headers, url }: Request, baseUrl: string): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = hostAndPortOf(headers.get("origin"));
  return (
    origin !== undefined && (origin === hostAndPortOf(url) || origin === hostAndPortOf(baseUrl))
  );
}

/** Returns host and port of an http URL; undefined for other text, such as `null`. A dot that ends the host is left out. */
export function hostAndPortOf(url: string | null): string | undefined {
  if (url === null || !/^https?:\/\//i.test(url)) return undefined;
  try {
    return new URL(url).host.replace(/\.(?=:|$)/, "");
  } catch {
    return undefined;
  }
}

/** Charges the caller of a request, whose credential was looked up. Files are charged only if they are missing. */
export function chargeCaller(
  limiter: Limiter,
  context: RequestContext,
): Charge | Promise<Charge> | undefined {
  const { caller } = context;
  const access = context.route?.operation.access;
  const key = caller.kind === "key" ? caller.credential.key : undefined;
  if (key && access?.kind === "key" && access.takesAlerts) return limiter.chargeAlerts(key.id);
  if (key) return limiter.chargeKey(key.id, key.rateLimit);
  if (caller.kind === "session") return limiter.chargeSession(caller.session.id);
  if (caller.kind === "job") {
    const { bucket, takesAlerts } = caller.owner;
    return takesAlerts ? limiter.chargeAlerts(bucket) : limiter.chargeHeartbeat(bucket);
  }
  if (caller.kind === "location") return limiter.chargeLocation(caller.locationId);
  if (caller.kind === "link") return limiter.chargeLink(caller.bucket);
  if (caller.kind === "reporter") return limiter.chargeReporter();
  const kind = access?.kind;
  if (kind === "file") return undefined;
  return kind === "health"
    ? limiter.chargeHealthCheck(context.address)
    : limiter.chargeAddress(context.address);
}
