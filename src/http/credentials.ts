import { bearer } from "@elysiajs/bearer";
import { Problem } from "../errors";
import {
  type Credential,
  isKeyValue,
  keyState,
  type KeyDirectory,
  missingScope,
  type Scope,
} from "../features/keys";
import { toIso } from "../kernel/time";

/** RFC 6750's challenge. */
export const CHALLENGE = 'Bearer realm="allclear"';
// RFC 6750's credentials: the scheme in any case, exactly one space, one token of RFC 7235's alphabet.
const BEARER_CREDENTIALS = /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i;
/** Start of nearly every credential, for a check without a regular expression. */
const USUAL_START = "Bearer allclear_";
const BEARER_SCHEME = /^bearer +\S/i;

const NO_QUERY = {};

type BearerReader = (context: {
  query: Record<string, never>;
  headers: { authorization: string };
}) => { bearer: string | undefined };

/**
 * The bearer plugin's own reading of a request. As a plugin it would run after the body is parsed,
 * too late for a caller who has no key; and it takes `Bearerabc` and `?access_token=`. So it is asked
 * here, by a header that the strict reading has passed, and with no query.
 */
function pluginReader(): BearerReader {
  const derive = bearer().event.transform?.[0]?.fn;
  if (!derive) throw new Error("the bearer plugin has changed its shape");
  return derive as unknown as BearerReader;
}

export interface Credentials {
  /**
   * The credential that a request presents at `now`, in unix ms. A Problem where it presents none that
   * opens anything.
   */
  authenticate(authorization: string | null, now: number): Credential | Problem;
}

/** Reads and judges `Authorization` headers. Looks in memory only. */
export function createCredentials(directory: KeyDirectory): Credentials {
  const readBearer = pluginReader();
  return {
    authenticate(authorization, now) {
      if (authorization === null) return missingKey();
      const credentials = canonicalCredentials(authorization);
      if (credentials === undefined) {
        return BEARER_SCHEME.test(authorization) ? invalidKey() : missingKey();
      }
      const value = readBearer({ query: NO_QUERY, headers: { authorization: credentials } }).bearer;
      if (value === undefined || !isKeyValue(value)) return invalidKey();
      const credential = directory.find(value);
      if (!credential) return invalidKey();
      const verdict = keyState(credential, now);
      return verdict.live ? credential : deadKey(verdict);
    },
  };
}

/** The credentials as `Bearer <token>`; undefined where the header holds no single well-formed token. */
function canonicalCredentials(authorization: string): string | undefined {
  // The usual header is in this form already. What else it may hold, the value's own shape judges.
  if (authorization.startsWith(USUAL_START)) return authorization;
  const token = readBearerToken(authorization);
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** The one token of bearer credentials, whatever it is; undefined where there is no well-formed one. */
export function readBearerToken(authorization: string): string | undefined {
  return BEARER_CREDENTIALS.exec(authorization)?.[1];
}

/** 403, if the credential lacks one of the scopes; undefined if it has them all. */
export function scopeProblem(
  credential: Credential,
  needed: readonly Scope[],
): Problem | undefined {
  const missing = missingScope(credential.key.scopes, needed);
  if (missing === undefined) return undefined;
  return new Problem(
    "insufficient_scope",
    `This endpoint needs the scope ${missing}, which the API key does not have.`,
    {
      headers: {
        "WWW-Authenticate": `${CHALLENGE}, error="insufficient_scope", scope="${missing}"`,
      },
    },
  );
}

function missingKey(): Problem {
  return new Problem(
    "missing_key",
    "Send an API key in the header Authorization: Bearer <API_KEY>.",
    { headers: { "WWW-Authenticate": CHALLENGE } },
  );
}

function invalidKey(): Problem {
  return invalidToken("invalid_key", "The API key is not one of this server's.");
}

function deadKey(verdict: {
  code: "expired_key" | "revoked_key";
  since: number;
  isValueOnly: boolean;
}): Problem {
  const at = toIso(verdict.since);
  if (verdict.code === "revoked_key") {
    return invalidToken("revoked_key", `The API key was revoked at ${at}.`);
  }
  return invalidToken(
    "expired_key",
    verdict.isValueOnly
      ? `This value of the API key was replaced and ended at ${at}. Use the newest value.`
      : `The API key expired at ${at}.`,
  );
}

function invalidToken(
  code: "invalid_key" | "expired_key" | "revoked_key",
  detail: string,
): Problem {
  return new Problem(code, detail, {
    headers: {
      "WWW-Authenticate": `${CHALLENGE}, error="invalid_token", error_description="${detail}"`,
    },
  });
}
