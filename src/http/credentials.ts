import type { BearerReader } from "./bearer";
import { type ErrorCode, Problem } from "../base/errors";
import { type Credential, isKeyValue, type KeyDirectory } from "../features/keys/directory";
import { keyState, missingScope } from "../features/keys/rules";
import type { Scope } from "../features/keys/scopes";
import type { HeartbeatDirectory, TokenOwner } from "../features/monitors/heartbeats";
import { toIso } from "../base/time";
import { splitUrl } from "./request-url";
import type { DeclaredRoute } from "./operation";

// RFC 6750's credentials: the scheme in any case, exactly one space, one token of RFC 7235's alphabet.
const BEARER_CREDENTIALS = /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i;
/** Start of nearly every header, for a check without a regular expression. */
const USUAL_START = "Bearer allclear_";
const BEARER_SCHEME = /^bearer +\S/i;

export interface Credentials {
  /** Returns the live credential of an `Authorization` header at `now`, in unix ms; else a Problem. */
  authenticate(authorization: string | null, now: number): Credential | Problem;
}

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

const BASIC_CREDENTIALS = /^basic +([A-Za-z0-9+/]+=*)$/i;

/**
 * Authenticates a key that is sent as bearer token or as the password of Basic authentication, whatever the
 * user name. Rejections ask for Basic authentication.
 */
export function authenticateBasic(
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

/** Returns 403 if the credential lacks one of the scopes. */
export function scopeProblem(
  credential: Credential,
  needed: readonly Scope[],
): Problem | undefined {
  const missing = missingScope(credential.key.scopes, needed);
  if (missing === undefined) return undefined;
  return challenge(
    "insufficient_scope",
    `This endpoint needs the scope ${missing}, which the API key does not have.`,
    `, error="insufficient_scope", scope="${missing}"`,
  );
}

/** Returns a problem with RFC 6750's challenge, to which `parameters` are added. */
function challenge(code: ErrorCode, detail: string, parameters = ""): Problem {
  return new Problem(code, detail, {
    headers: { "WWW-Authenticate": `Bearer realm="allclear"${parameters}` },
  });
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

/** Returns the token in a request's path, at the place of `:token` in the route's. */
export function tokenInPath(request: Request, route: DeclaredRoute): string {
  const { path } = splitUrl(request.url) ?? { path: "" };
  return path.split("/")[route.path.split("/").indexOf(TOKEN_SEGMENT)] ?? "";
}

/** Returns true if the caller of a route is identified by a token in the path. */
export function hasTokenInPath({ path }: Pick<DeclaredRoute, "path">): boolean {
  return path.split("/").includes(TOKEN_SEGMENT);
}

const TOKEN_SEGMENT = ":token";

const UNKNOWN_TOKEN = "The heartbeat token is unknown: no push monitor of this server has it.";

/**
 * Returns the monitor whose token a heartbeat carries; for an unknown token a Problem: 404 if the
 * token is in the path, 401 if it is a bearer token.
 */
export function findHeartbeatMonitor(
  heartbeats: HeartbeatDirectory,
  request: Request,
  route: DeclaredRoute,
): TokenOwner | Problem {
  const token = tokenOfRoute(request, route, "the monitor's token");
  if (token instanceof Problem) return token;
  return heartbeats.find(token) ?? unknownToken(route, UNKNOWN_TOKEN);
}

const UNKNOWN_REPORT_TOKEN = "The token for reports about mails is unknown, or was replaced.";

/** Returns the problem of a request without the token for reports about mails, like that of a heartbeat. */
export function reporterProblem(
  isToken: (token: string) => boolean,
  request: Request,
  route: DeclaredRoute,
): Problem | undefined {
  const token = tokenOfRoute(request, route, "the token for reports");
  if (token instanceof Problem) return token;
  return isToken(token) ? undefined : unknownToken(route, UNKNOWN_REPORT_TOKEN);
}

/** Returns the token in the path of a route, or else the bearer token; a Problem without one. */
function tokenOfRoute(request: Request, route: DeclaredRoute, what: string): string | Problem {
  if (hasTokenInPath(route)) return tokenInPath(request, route);
  const header = request.headers.get("authorization");
  const token = header === null ? undefined : readBearerToken(header);
  return (
    token ?? challenge("missing_key", `Send ${what} in the header Authorization: Bearer <TOKEN>.`)
  );
}

function unknownToken(route: DeclaredRoute, detail: string): Problem {
  if (hasTokenInPath(route)) return new Problem("not_found", detail);
  return challenge("invalid_key", detail, `, error="invalid_token"`);
}
