import { Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import { type FieldError, pointer } from "../../../base/errors";
import { sha256Hex } from "../../../base/hash";
import { OneOf, Text } from "../../../base/schema";
import { SecretPart, shownParts } from "../../../base/secrets";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import { readBody } from "../../../egress/body";
import type { Egress } from "../../../egress/egress";
import { Fault, type HttpAnswer, type Proxy, type TlsRules } from "../../../egress/model";
import { headerError } from "../../../egress/http-headers";
import type { ProbeContext } from "../monitoring";
import { HTTP_SCHEMES, HttpUserName, parseUrl, Url, urlError } from "./fields";

/*
 * Sign-ins of HTTP checks: an access token of OAuth 2.0, and Digest. Each has its schemas, and its part of a check.
 */

const AUTHS = ["basic", "body"] as const;

/** Client credentials (RFC 6749, 4.4) for the access token of an HTTP check. */
export interface OAuth2 {
  token_url: string;
  client_id: string;
  /** Secret. */
  client_secret?: string | null;
  scopes?: string[];
  audience?: string;
  auth?: (typeof AUTHS)[number];
}

// A scope-token of RFC 6749.
const SCOPE = "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$";

const open = {
  token_url: Url(HTTP_SCHEMES, "https://login.example.com/token"),
  client_id: Text({ minLength: 1, maxLength: 500 }),
  scopes: Type.Array(
    Text({
      minLength: 1,
      maxLength: 200,
      pattern: SCOPE,
      mismatch: "must have only visible ASCII characters other than quotes and backslashes",
    }),
    { maxItems: 50 },
  ),
  audience: Text({ minLength: 1, maxLength: 2_000 }),
  auth: OneOf(AUTHS, {
    description:
      "Selects if the credentials are sent in the Authorization header or in the body. Default: basic.",
  }),
};

const DESCRIPTION =
  "Client credentials of OAuth 2.0. Their access token is sent as Authorization: Bearer.";

export const OAuth2Body = Type.Object(
  {
    token_url: open.token_url,
    client_id: open.client_id,
    client_secret: SecretPart(2_000),
    scopes: Type.Optional(open.scopes),
    audience: Type.Optional(open.audience),
    auth: Type.Optional(open.auth),
  },
  { additionalProperties: false, description: DESCRIPTION },
);

const { description = "", properties: shown } = shownParts(OAuth2Body);

/** The settings as they are shown. Fields with a default are never null. */
export const OAuth2Shown = Type.Object(
  { ...shown, scopes: open.scopes, auth: open.auth },
  { description },
);

/** Returns the settings with defaults. */
export function completedOAuth2(settings: OAuth2) {
  return {
    token_url: settings.token_url,
    client_id: settings.client_id,
    client_secret: settings.client_secret ?? "",
    scopes: settings.scopes ?? [],
    audience: settings.audience ?? null,
    auth: settings.auth ?? ("basic" as const),
  };
}

/** Returns errors that the schema cannot express; pointers start at the config of the monitor. */
export function validateOAuth2({ token_url }: OAuth2): FieldError[] {
  const detail = urlError(token_url, HTTP_SCHEMES, "use client_id and client_secret");
  return detail === undefined ? [] : [{ pointer: pointer("oauth2", "token_url"), detail }];
}

type Settings = ReturnType<typeof completedOAuth2> &
  TlsRules & {
    verifyTls: boolean;
    proxy: Proxy | undefined;
  };

/** An access token. Times are on the monotonic clock. */
interface Token {
  value: string;
  usableUntil: number;
}

const TOKENS_MAX = 1_000;
/** Tokens without a stated lifetime are kept for this time. */
const UNKNOWN_LIFETIME_MS = HOUR_MS;
const EARLY_MS = MINUTE_MS;
const ANSWER_MAX_BYTES = 64 * 1024;
const LONGEST_TOKEN = 16_384;

/** Tokens by a hash of their settings, so that changed settings never use an earlier token. */
const tokensOf = new WeakMap<Egress, LRUCache<string, Token>>();

/**
 * Sends a request with an access token, which is kept until a minute before its end. If a kept token is
 * rejected, the request is sent again with a new one. Returns a `Fault` if no token can be fetched; its
 * message contains nothing of the token or the settings.
 */
export async function sendWithToken<Sent>(
  settings: Settings,
  {
    egress,
    clock,
    signal,
    steps,
    contact,
  }: Pick<ProbeContext, "egress" | "clock" | "signal" | "steps" | "contact">,
  {
    send,
    isRejected,
  }: { send: (token: string) => Promise<Sent>; isRejected: (sent: Sent) => boolean },
): Promise<{ sent: Sent } | Fault> {
  const tokens = tokensOf.get(egress) ?? new LRUCache<string, Token>({ max: TOKENS_MAX });
  tokensOf.set(egress, tokens);
  const key = sha256Hex(JSON.stringify(settings));
  const kept = tokens.get(key);
  if (kept && clock.monotonic() < kept.usableUntil) {
    steps?.add("token", true, "kept from an earlier check");
    const sent = await send(kept.value);
    if (!isRejected(sent)) return { sent };
    // Another check may have fetched a new one meanwhile.
    if (tokens.get(key) === kept) tokens.delete(key);
  }
  const requestedAt = clock.monotonic();
  steps?.begin("token");
  const fetched = await fetchToken(settings, egress, { signal, contact });
  if (fetched instanceof Fault) {
    const { kind, message, certificate } = fetched;
    steps?.fail(message);
    return new Fault(kind, `Fetching the access token: ${message}`, certificate);
  }
  steps?.end();
  const sent = await send(fetched.value);
  const usableUntil = requestedAt + fetched.lifetimeMs - EARLY_MS;
  if (!isRejected(sent) && clock.monotonic() < usableUntil) {
    tokens.set(key, { value: fetched.value, usableUntil });
  }
  return { sent };
}

async function fetchToken(
  settings: Settings,
  egress: Egress,
  { signal, contact }: Pick<ProbeContext, "signal" | "contact">,
): Promise<{ value: string; lifetimeMs: number } | Fault> {
  const url = parseUrl(settings.token_url);
  if (!url) return new Fault("refused", "The address is not a URL.");
  const answer = await egress.request({
    url,
    method: "POST",
    ...messageOf(settings),
    verifyTls: settings.verifyTls,
    ca: settings.ca,
    tlsMin: settings.tlsMin,
    proxy: settings.proxy,
    maxBodyBytes: ANSWER_MAX_BYTES,
    policy: "monitor",
    signal,
    contact,
  });
  if (answer instanceof Fault) return answer;
  const body = await readBody(answer, ANSWER_MAX_BYTES);
  if (body instanceof Fault) return body;
  const document = parseObject(body.bytes);
  if (answer.status !== 200) {
    return new Fault("protocol", `The status is ${answer.status}${reasonIn(document)}.`);
  }
  return tokenIn(document);
}

/** Returns headers and body of a token request. */
function messageOf({ client_id, client_secret, scopes, audience, auth }: Settings) {
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (scopes.length > 0) form.set("scope", scopes.join(" "));
  if (audience !== null) form.set("audience", audience);
  const headers: Record<string, string> = {
    Accept: "application/json",
    "Content-Type": "application/x-www-form-urlencoded",
  };
  if (auth === "basic") {
    // Encoded as RFC 6749 (2.3.1) demands.
    const credentials = `${formEncoded(client_id)}:${formEncoded(client_secret)}`;
    headers["Authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`;
  } else {
    form.set("client_id", client_id);
    if (client_secret !== "") form.set("client_secret", client_secret);
  }
  return { headers, body: form.toString() };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Error codes of RFC 6749, which are safe to repeat. */
const REASONS: ReadonlySet<unknown> = new Set([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
]);

function reasonIn({ error }: Readonly<Record<string, unknown>>): string {
  return REASONS.has(error) ? ` (${String(error)})` : "";
}

function tokenIn(
  document: Readonly<Record<string, unknown>>,
): { value: string; lifetimeMs: number } | Fault {
  const { access_token: value, token_type: type = "Bearer", expires_in: expiresIn } = document;
  if (typeof value !== "string" || value === "") {
    return new Fault("protocol", "The answer has no access token.");
  }
  if (value.length > LONGEST_TOKEN || headerError("Authorization", value) !== undefined) {
    return new Fault("protocol", "The access token cannot be sent in a header.");
  }
  if (typeof type !== "string" || type.toLowerCase() !== "bearer") {
    return new Fault("protocol", "The access token is not a bearer token.");
  }
  // Some servers send the number as text.
  const seconds = typeof expiresIn === "string" ? Number(expiresIn) : expiresIn;
  const isKnown = typeof seconds === "number" && seconds >= 0;
  return { value, lifetimeMs: isKnown ? seconds * SECOND_MS : UNKNOWN_LIFETIME_MS };
}

/** Credentials of Digest sign-in (RFC 7616). */
export interface Digest {
  username: string;
  /** Secret. */
  password?: string | null;
}

export const DigestBody = Type.Object(
  {
    username: HttpUserName,
    password: SecretPart(1_000),
  },
  {
    additionalProperties: false,
    description:
      "Digest sign-in (RFC 7616) at the origin of the URL, with MD5, SHA-256 or SHA-512-256. A redirect to another origin gets none.",
  },
);

/** A challenge of a server: values with one character per byte by the names of its parameters in lower case. */
type Challenge = ReadonlyMap<string, string>;

/** Hash functions by the name of an algorithm, without `-sess`. */
const HASHES: ReadonlyMap<string, "md5" | "sha256" | "sha512-256"> = new Map([
  ["MD5", "md5"],
  ["SHA-256", "sha256"],
  ["SHA-512-256", "sha512-256"],
]);

/** Requests with one nonce: a challenge that is answered, and answered again if its nonce has become stale. */
const ANSWERS_MAX = 2;

/** Signs in to one origin during one check. */
export class DigestSignIn {
  readonly #credentials: Digest;
  #challenge: Challenge | undefined;
  #count = 0;
  #answers = 0;

  constructor(credentials: Digest) {
    this.#credentials = credentials;
  }

  /** Name of the algorithm by which the last challenge is answered. */
  get algorithm(): string {
    return algorithmOf(this.#challenge ?? new Map()).name;
  }

  /** Begins the requests of another address of the origin. */
  redirected(): void {
    this.#answers = 0;
  }

  /** Returns true if the request is to be sent again with an answer to this challenge. */
  canAnswer(answer: Pick<HttpAnswer, "status" | "lines">): boolean {
    return this.#nextChallenge(answer) !== undefined;
  }

  /** Takes a challenge that can be answered. */
  take(answer: Pick<HttpAnswer, "status" | "lines">): void {
    const challenge = this.#nextChallenge(answer);
    if (!challenge) return;
    if (challenge.get("nonce") !== this.#challenge?.get("nonce")) this.#count = 0;
    this.#challenge = challenge;
    this.#answers += 1;
  }

  /** Returns the header of a request; undefined before the first challenge. */
  authorization(method: string, url: URL): string | undefined {
    if (!this.#challenge) return undefined;
    this.#count += 1;
    return answerTo(this.#challenge, this.#credentials, {
      method,
      uri: url.pathname + url.search,
      count: this.#count,
      clientNonce: crypto.randomUUID().replaceAll("-", ""),
    });
  }

  #nextChallenge({
    status,
    lines = [],
  }: Pick<HttpAnswer, "status" | "lines">): Challenge | undefined {
    if (status !== 401 || this.#answers === ANSWERS_MAX) return undefined;
    const challenge = lines
      .filter(([name]) => name === "www-authenticate")
      .flatMap(([, value]) => challengesIn(value))
      .find(isKnown);
    const used = this.#challenge;
    // A second challenge for the same credentials means that they are wrong, unless the nonce is too old.
    const isRejected =
      used !== undefined &&
      this.#answers > 0 &&
      challenge?.get("realm") === used.get("realm") &&
      challenge?.get("stale")?.toLowerCase() !== "true";
    return isRejected ? undefined : challenge;
  }
}

function isKnown(challenge: Challenge): boolean {
  const qops = qopsOf(challenge);
  return (
    challenge.has("nonce") &&
    HASHES.has(algorithmOf(challenge).hash) &&
    (qops.length === 0 || qops.includes("auth"))
  );
}

function qopsOf(challenge: Challenge): string[] {
  return (challenge.get("qop") ?? "")
    .split(/[\s,]+/)
    .filter((qop) => qop !== "")
    .map((qop) => qop.toLowerCase());
}

function algorithmOf(challenge: Challenge): { name: string; hash: string; isSession: boolean } {
  const name = challenge.get("algorithm") ?? "MD5";
  const upper = name.toUpperCase();
  const isSession = upper.endsWith("-SESS");
  return { name, hash: isSession ? upper.slice(0, -"-SESS".length) : upper, isSession };
}

/** Returns the value of an Authorization header. */
export function answerTo(
  challenge: Challenge,
  { username: name, password }: Digest,
  request: { method: string; uri: string; count: number; clientNonce: string },
): string {
  const { method, uri, count, clientNonce } = request;
  const { name: algorithm, hash, isSession } = algorithmOf(challenge);
  const digest = (bytes: string) =>
    new Bun.CryptoHasher(HASHES.get(hash) ?? "md5").update(bytes, "latin1").digest("hex");
  const nameBytes = bytesOf(name);
  const [realm, nonce] = [challenge.get("realm") ?? "", challenge.get("nonce") ?? ""];
  const secret = digest(`${nameBytes}:${realm}:${bytesOf(password ?? "")}`);
  const a1 = isSession ? digest(`${secret}:${nonce}:${clientNonce}`) : secret;
  const a2 = digest(`${method}:${uri}`);
  const hasQop = qopsOf(challenge).length > 0;
  const nc = count.toString(16).padStart(8, "0");
  const between = hasQop ? `${nonce}:${nc}:${clientNonce}:auth` : nonce;
  const isHashed = challenge.get("userhash")?.toLowerCase() === "true";
  const user = isHashed ? digest(`${nameBytes}:${realm}`) : name;
  const opaque = challenge.get("opaque");
  const isAscii = /^[\x20-\x7e]*$/.test(user);
  const parts = [
    isAscii ? `username=${quoted(user)}` : `username*=UTF-8''${encodeURIComponent(user)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `response="${digest(`${a1}:${between}:${a2}`)}"`,
    ...(challenge.has("algorithm") ? [`algorithm=${algorithm}`] : []),
    ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ...(hasQop ? ["qop=auth", `nc=${nc}`] : []),
    ...(hasQop || isSession ? [`cnonce="${clientNonce}"`] : []),
    ...(isHashed ? ["userhash=true"] : []),
  ];
  return `Digest ${parts.join(", ")}`;
}

/** Returns a text as UTF-8 with one character per byte. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A scheme, or a parameter with its value, quoted or not. */
const PART = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gs;

/** Characters of a header with challenges that are read. */
const CHALLENGES_MAX = 16 * 1024;

/** Returns the Digest challenges of a header, which may hold those of other schemes, in their order. */
export function challengesIn(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  for (const [text, name = "", quotedValue, value] of header
    .slice(0, CHALLENGES_MAX)
    .matchAll(PART)) {
    if (!text.includes("=")) challenges.push({ scheme: name, parameters: new Map() });
    else {
      const given =
        quotedValue === undefined ? (value ?? "") : quotedValue.replace(/\\(.)/gs, "$1");
      challenges.at(-1)?.parameters.set(name.toLowerCase(), given);
    }
  }
  return challenges
    .filter(({ scheme }) => scheme.toLowerCase() === "digest")
    .map(({ parameters }) => parameters);
}
