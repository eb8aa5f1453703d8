/*
 * The OpenID Connect provider: its metadata, the requests of a sign-in, and the claims about the person. Protocol and
 * signatures are those of openid-client; its requests go through `egress/`.
 */
import type * as OpenId from "openid-client";
import { lazy } from "../../base/lazy";
import { plural, withoutUnsafeCharacters } from "../../base/text";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import { readBody } from "../../egress/body";
import type { Egress } from "../../egress/egress";
import { Fault } from "../../egress/model";

/** Path to which the provider leads the browser back. */
export const CALLBACK_PATH = "/admin/sign-in/callback";

/** Returns the address to which the provider leads back at a public address. */
export function redirectUriAt(baseUrl: string): string {
  return baseUrl + CALLBACK_PATH;
}

/** Limit of one request to the provider, and of its answer. */
const REQUEST_MS = 5 * SECOND_MS;
const ANSWER_MAX_BYTES = 256 * 1024;

/** Limit of a subject (OpenID Connect Core, 2). */
const SUBJECT_MAX = 255;

/** Time for which the metadata of the provider are used again. Keys are read at each sign-in. */
const METADATA_MS = 5 * MINUTE_MS;

/** Signatures of ID tokens that are accepted. Those by a shared secret, and none at all, are not. */
const SIGNATURES = /^(?:[RPE]S(?:256|384|512)|EdDSA|Ed25519)$/;

/** Difference of the clocks above which it is named as the reason, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** Secrets of one sign-in, which the browser carries in a sealed cookie. */
export interface FlowSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** Claims about someone who has signed in. Its tokens are discarded. */
export interface Claims {
  /** Claims of the ID token. */
  token: Readonly<Record<string, unknown>>;
  /** Claims of UserInfo; undefined if the ID token had all. */
  userInfo: Readonly<Record<string, unknown>> | undefined;
}

/** Claims that describe a person, apart from the groups. */
const READ_CLAIMS = ["sub", "email", "email_verified", "name", "preferred_username", "zoneinfo"];

/** Limits of what is kept of claims for people: how many of each answer, and of a value, in UTF-16 units of its JSON. */
const SHOWN_CLAIMS = 100;
export const CLAIM_MAX = 1_000;

/** Returns claims for people: the first hundred, cut if they are long, and those that describe the person. */
export function shortClaims(
  { token, userInfo }: Claims,
  { oidcGroupsClaim }: Pick<Ctx["config"], "oidcGroupsClaim">,
): Claims {
  const read = new Set([...READ_CLAIMS, oidcGroupsClaim]);
  const shorten = (claims: Claims["token"]) =>
    Object.fromEntries(
      Object.entries(claims)
        .filter(([name], index) => index < SHOWN_CLAIMS || read.has(name))
        .map(([name, value]) => [
          name.slice(0, CLAIM_MAX),
          read.has(name) ? value : shortValue(value),
        ]),
    );
  return { token: shorten(token), userInfo: userInfo && shorten(userInfo) };
}

function shortValue(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length > CLAIM_MAX ? `${text.slice(0, CLAIM_MAX)}…` : value;
}

/** Reason for which a sign-in was not completed, as a sentence for the log, without secrets. */
export interface Failure {
  failure: string;
  /** True if provider or settings are to blame, not the browser. */
  isTrouble: boolean;
}

/** Result of one part of a check of the provider. */
export interface Finding {
  /** Name of the part, such as `keys`. */
  part: string;
  isOk: boolean;
  text: string;
}

export interface Provider {
  /** Name for people. */
  name: string;
  issuer: string;
  /** Address to which the provider leads back, and which it must know. */
  redirectUri(): string;
  /** Returns the address at the provider where a sign-in begins, and its secrets. */
  begin(): Promise<{ url: string; secrets: FlowSecrets } | Failure>;
  /** Completes a sign-in with the query of the callback. */
  finish(query: string, secrets: FlowSecrets): Promise<Claims | Failure>;
  /** Examines metadata, keys and clock of the provider. */
  check(): Promise<Finding[]>;
}

/** Returns the name of the provider for people; undefined without one. */
export function providerName({ oidcIssuer, oidcName }: Ctx["config"]): string | undefined {
  return oidcIssuer === undefined ? undefined : (oidcName ?? new URL(oidcIssuer).host);
}

/** Creates the provider of the options; undefined without one. Sends nothing, so that no start waits for it. */
export function createProvider(
  ctx: Pick<Ctx, "baseUrl" | "clock" | "config">,
  egress: Egress,
): Provider | undefined {
  const { clock, config } = ctx;
  const { oidcIssuer, oidcClientId: clientId = "", oidcClientSecret: secret } = config;
  if (oidcIssuer === undefined) return undefined;
  const issuer: string = oidcIssuer;
  const openid = lazy(() => import("openid-client"));
  const isPlain = issuer.startsWith("http:");
  const send = createSend(ctx, egress);
  const redirectUri = () => redirectUriAt(ctx.baseUrl);
  let kept: { metadata: Promise<OpenId.ServerMetadata>; until: number } | undefined;

  /** Reads what the provider says of itself. Throws `ProviderError`, and errors of the library. */
  async function discover(fetcher = send): Promise<OpenId.ServerMetadata> {
    const library = await openid();
    const server = new URL(issuer);
    const found = await library.discovery(server, clientId, undefined, undefined, {
      [library.customFetch]: fetcher,
      execute: isPlain ? [library.allowInsecureRequests] : [],
    });
    return usableMetadata(found.serverMetadata(), issuer);
  }

  /** Returns the metadata of the last five minutes. Requests that wait for them share one look-up. */
  async function readMetadata(): Promise<OpenId.ServerMetadata> {
    const now = clock.monotonic();
    if (!kept || kept.until <= now) {
      const reading = { metadata: discover(), until: now + METADATA_MS };
      kept = reading;
      // A failure is not kept.
      reading.metadata.catch(() => {
        if (kept === reading) kept = undefined;
      });
    }
    return kept.metadata;
  }

  async function configure(metadata: OpenId.ServerMetadata): Promise<OpenId.Configuration> {
    const library = await openid();
    // The library reads the clock of the machine.
    const skew = Math.round((clock.now() - Date.now()) / SECOND_MS);
    const configuration = new library.Configuration(
      metadata,
      clientId,
      { [library.clockSkew]: skew },
      authenticationOf(library, metadata, secret),
    );
    configuration[library.customFetch] = send;
    configuration.timeout = undefined;
    if (isPlain) library.allowInsecureRequests(configuration);
    // Without it, the library trusts the connection, and verifies no signature.
    library.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  async function begin() {
    const library = await openid();
    const metadata = await readMetadata();
    const secrets = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    };
    const url = library.buildAuthorizationUrl(await configure(metadata), {
      redirect_uri: redirectUri(),
      scope: scopeOf(metadata, config),
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, secrets };
  }

  async function finish(query: string, { state, nonce, verifier }: FlowSecrets): Promise<Claims> {
    const library = await openid();
    const metadata = await readMetadata();
    const configuration = await configure(metadata);
    const tokens = await library.authorizationCodeGrant(
      configuration,
      new URL(`${redirectUri()}?${query}`),
      {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      },
    );
    const token = tokens.claims();
    if (!token) throw new ProviderError("The provider sent no ID token.");
    if (token.sub === "" || token.sub.length > SUBJECT_MAX) {
      throw new ProviderError("The ID token's claim sub is empty or too long.");
    }
    // The library compares it only if there are several audiences.
    if (token.azp !== undefined && token.azp !== clientId) {
      throw new ProviderError("The ID token's claim azp is not the client id.");
    }
    requireWhole(token, config);
    const needsMore = lackedClaims(token, config).length > 0;
    const userInfo =
      needsMore && metadata.userinfo_endpoint !== undefined
        ? await library.fetchUserInfo(configuration, tokens.access_token, token.sub)
        : undefined;
    if (userInfo) requireWhole(userInfo, config);
    return { token, userInfo };
  }

  /** Runs a part of a sign-in, whose errors become a failure. */
  async function attempt<Result>(work: () => Promise<Result>): Promise<Result | Failure> {
    try {
      return await work();
    } catch (error) {
      const { AuthorizationResponseError } = await openid();
      const isOfBrowser =
        error instanceof AuthorizationResponseError ||
        // A code that was invented or used before.
        (error as LibraryError).error === "invalid_grant";
      return { failure: describe(error, clock.now(), issuer), isTrouble: !isOfBrowser };
    }
  }

  return {
    name: providerName(config) ?? issuer,
    issuer,
    redirectUri,
    begin: () => attempt(begin),
    finish: (query, secrets) => attempt(() => finish(query, secrets)),

    async check() {
      let date: string | null = null;
      const metadata = await attempt(() =>
        discover(async (url, options) => {
          const answer = await send(url, options);
          date = answer.headers.get("date");
          return answer;
        }),
      );
      if ("failure" in metadata) {
        return [{ part: "metadata", isOk: false, text: metadata.failure as string }];
      }
      const clockFinding = describeClock(date, clock.now());
      const keys = await attempt(() => readKeys(send, metadata));
      return [
        { part: "metadata", isOk: true, text: `The provider names itself ${metadata.issuer}.` },
        describeKeys(keys),
        clockFinding,
        ...describeAbilities(metadata, config),
      ];
    },
  };
}

/** Error with a sentence for the log, without secrets. */
class ProviderError extends Error {}

/** Returns a function that sends the library's requests through `egress/`, each within 5 seconds. */
function createSend({ clock }: Pick<Ctx, "clock">, egress: Egress): OpenId.CustomFetch {
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    const isPlain = url.protocol === "http:";
    const deadline = new AbortController();
    const timer = clock.after(REQUEST_MS, () => deadline.abort());
    const { "user-agent": _ofLibrary, ...own } = headers;
    try {
      const answer = await egress.request({
        url,
        method,
        headers: own,
        body: body instanceof URLSearchParams ? body.toString() : undefined,
        // The operator names the provider, so that it may be in a private network; without TLS it must be.
        policy: isPlain ? "private" : "monitor",
        proxy: isPlain ? undefined : "outbound",
        maxBodyBytes: ANSWER_MAX_BYTES,
        signal: deadline.signal,
      });
      if (answer instanceof Fault) throw new ProviderError(`${whereOf(url)} ${answer.message}`);
      if (answer.status >= 300 && answer.status < 400) {
        throw new ProviderError(`${whereOf(url)} It redirects, which is not followed.`);
      }
      const content = await readBody(answer, ANSWER_MAX_BYTES);
      if (content instanceof Fault) throw new ProviderError(`${whereOf(url)} ${content.message}`);
      if (content.isTruncated) {
        throw new ProviderError(`${whereOf(url)} The answer is longer than 256 KiB.`);
      }
      const shown = new Headers();
      for (const name of ["content-type", "www-authenticate", "date"]) {
        const value = answer.headers.get(name);
        if (value !== undefined && /^[\t\x20-\x7e]*$/.test(value)) shown.set(name, value);
      }
      const isEmpty = answer.status === 204;
      // Only answers to a POST explain a refusal in their body.
      const isRead = answer.status === 200 || (method === "POST" && answer.status <= 599);
      if (answer.status < 200 || !isRead) {
        throw new ProviderError(`${whereOf(url)} The status is ${answer.status}.`);
      }
      const bytes = new Uint8Array(content.bytes);
      return new Response(isEmpty ? null : bytes, { status: answer.status, headers: shown });
    } finally {
      timer.cancel();
    }
  };
}

function whereOf(url: URL): string {
  return `At ${url.host}${url.pathname}:`;
}

/** Endpoints that a sign-in uses. */
const ENDPOINTS = {
  authorization_endpoint: true,
  token_endpoint: true,
  jwks_uri: true,
  userinfo_endpoint: false,
} as const;

/** Returns the metadata with only the signatures that are accepted. Throws a ProviderError if they cannot be used. */
function usableMetadata(metadata: OpenId.ServerMetadata, issuer: string): OpenId.ServerMetadata {
  if (metadata.issuer !== issuer) throw otherIssuer(metadata.issuer, issuer);
  for (const [name, isRequired] of Object.entries(ENDPOINTS)) {
    const value = metadata[name as keyof typeof ENDPOINTS];
    if (value === undefined && !isRequired) continue;
    const url = typeof value === "string" ? URL.parse(value) : null;
    const isSecure = url?.protocol === "https:";
    const isAllowed = isSecure || (issuer.startsWith("http:") && url?.protocol === "http:");
    if (!isAllowed) throw new ProviderError(`The provider has no ${name} by https.`);
  }
  const offered = metadata.id_token_signing_alg_values_supported;
  if (!Array.isArray(offered)) return metadata;
  const accepted = offered.filter((name) => SIGNATURES.test(String(name)));
  if (accepted.length === 0) {
    throw new ProviderError("The provider signs ID tokens with no algorithm that is accepted.");
  }
  return { ...metadata, id_token_signing_alg_values_supported: accepted };
}

function otherIssuer(own: unknown, issuer: string): ProviderError {
  return new ProviderError(
    `The provider names itself “${clean(String(own))}”, and ALLCLEAR_OIDC_ISSUER is “${issuer}”.`,
  );
}

/** Returns the way in which this server authenticates itself to the provider. */
function authenticationOf(
  library: typeof OpenId,
  { token_endpoint_auth_methods_supported: methods }: OpenId.ServerMetadata,
  secret: string | undefined,
): OpenId.ClientAuth {
  if (secret === undefined) return library.None();
  // OpenID Connect Discovery names it as the default.
  const isBasic = !Array.isArray(methods) || methods.includes("client_secret_basic");
  return isBasic ? library.ClientSecretBasic(secret) : library.ClientSecretPost(secret);
}

type ClaimConfig = Pick<Ctx["config"], "roles" | "oidcGroupsClaim" | "oidcEmailVerified">;

/** Returns the scopes to ask for: those of profile and e-mail, and that of groups where the provider has one. */
function scopeOf(metadata: OpenId.ServerMetadata, config: ClaimConfig): string {
  const offered: readonly unknown[] = metadata.scopes_supported ?? [];
  const groups = ["groups", config.oidcGroupsClaim].filter((name) => offered.includes(name));
  return ["openid", "profile", "email", ...new Set(config.roles ? groups : [])].join(" ");
}

/** Returns the names of the claims that a sign-in needs. */
function neededClaims(config: ClaimConfig): string[] {
  return [
    "email",
    ...(config.oidcEmailVerified === "required" ? ["email_verified"] : []),
    ...(config.roles ? [config.oidcGroupsClaim] : []),
  ];
}

function lackedClaims(claims: object, config: ClaimConfig): string[] {
  const has = (name: string) => Object.hasOwn(claims, name);
  const lacked = neededClaims(config).filter((name) => !has(name));
  return has("name") || has("preferred_username") ? lacked : [...lacked, "name"];
}

/** Throws a ProviderError if the provider has cut a claim that is needed (distributed claims, OpenID Connect Core 5.6.2). */
function requireWhole(claims: object, config: ClaimConfig): void {
  const names = (claims as Record<string, unknown>)["_claim_names"];
  if (typeof names !== "object" || names === null) return;
  const cut = neededClaims(config).filter((name) => Object.hasOwn(names, name));
  if (cut.length === 0) return;
  throw new ProviderError(
    `The provider left out the claim ${cut.join(", ")} (_claim_names), probably since it is too long. Let it send only the groups that ALLCLEAR_ROLES names.`,
  );
}

/** Limit of texts of the provider in the log, in UTF-16 units. */
const QUOTED_MAX = 200;

function clean(text: string): string {
  return withoutUnsafeCharacters(text).slice(0, QUOTED_MAX);
}

/** Errors of openid-client and what it is built on, as far as they are read here. */
interface LibraryError {
  name?: string;
  code?: string;
  message?: string;
  /** Code of RFC 6749, and its explanation, as the provider sent them. */
  error?: string;
  error_description?: string;
  status?: number;
  cause?: unknown;
}

/** Limit of causes that are read. */
const CAUSES_MAX = 5;

/**
 * Returns the reason of a failure as a sentence, without tokens, codes and secrets. `now` is in unix ms, `issuer` that of
 * the options. Messages of the library are constant. Text of the provider is only in causes that are not errors and in
 * SyntaxErrors. Neither is quoted.
 */
function describe(error: unknown, now: number, issuer: string): string {
  const chain: LibraryError[] = [];
  let each: unknown = error;
  while (each instanceof Error && chain.length < CAUSES_MAX) {
    if (each instanceof ProviderError) return each.message;
    chain.push(each as LibraryError);
    each = each.cause;
  }
  const facts = (typeof each === "object" && each !== null ? each : {}) as Record<string, unknown>;
  const [first] = chain;
  if (first?.error !== undefined) {
    const { error: code, error_description: text = "", status } = first;
    const where = status === undefined ? "" : ` with status ${status}`;
    const hint =
      code === "invalid_client"
        ? " Compare ALLCLEAR_OIDC_CLIENT_ID and ALLCLEAR_OIDC_CLIENT_SECRET with the provider’s."
        : "";
    const reason = `${clean(code)}${text === "" ? "" : ` (${clean(text)})`}`;
    return `The provider refused${where}: ${reason}.${hint}`;
  }
  const codes = chain.map(({ code }) => code);
  if (codes.includes("OAUTH_WWW_AUTHENTICATE_CHALLENGE")) {
    return "The provider refused the client id or the client secret.";
  }
  if (codes.includes("OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") && "expected" in facts) {
    const { body, attribute } = facts;
    const sent = (body as Record<string, unknown> | undefined)?.[String(attribute)];
    return attribute === "issuer"
      ? otherIssuer(sent, issuer).message
      : "UserInfo is about another subject than the ID token.";
  }
  const claims = (facts["claims"] ?? {}) as Record<string, unknown>;
  if (codes.includes("OAUTH_JWT_TIMESTAMP_CHECK_FAILED")) {
    return describeTimes(String(facts["claim"]), claims, now);
  }
  const claim = typeof facts["claim"] === "string" ? ` (${clean(facts["claim"])})` : "";
  const described = chain.filter((one) => !(one instanceof SyntaxError));
  const messages = [...new Set(described.map(({ message = "" }) => message))].filter(Boolean);
  return `${clean(messages.join(": ")) || "unknown error"}${claim}.`;
}

/** Explains an ID token that is not valid at `now` (unix ms), with the difference of the clocks. */
function describeTimes(claim: string, claims: Record<string, unknown>, now: number): string {
  const what = claim === "exp" ? "has expired" : "is not valid yet";
  const issuedAt = Number(claims["iat"]);
  // The token was made a moment ago.
  const ahead = Math.round(issuedAt - now / SECOND_MS);
  if (!Number.isFinite(ahead)) return `The ID token ${what} (${claim}).`;
  return `The ID token ${what} (${claim}): the clock of the provider is ${differenceOf(ahead)} this server's.`;
}

function differenceOf(aheadSeconds: number): string {
  const seconds = Math.abs(aheadSeconds).toLocaleString("en");
  return `${seconds} s ${aheadSeconds < 0 ? "behind" : "ahead of"}`;
}

/** Describes the difference of the clocks by the Date of an answer. `now` is in unix ms. */
function describeClock(date: string | null, now: number): Finding {
  const at = Date.parse(date ?? "");
  if (Number.isNaN(at)) {
    return { part: "clock", isOk: true, text: "The provider does not tell its time." };
  }
  const ahead = Math.round((at - now) / SECOND_MS);
  const isOk = Math.abs(ahead) <= CLOCK_TOLERANCE_SECONDS;
  const text = `The clock of the provider is ${differenceOf(ahead)} this server's.`;
  return { part: "clock", isOk, text };
}

/** Reads the keys of the provider, and returns the kinds of those that can verify a signature. */
async function readKeys(
  send: OpenId.CustomFetch,
  { jwks_uri: address = "" }: OpenId.ServerMetadata,
): Promise<string[]> {
  const headers = { accept: "application/json, application/jwk-set+json" };
  const answer = await send(address, {
    method: "GET",
    headers,
    body: undefined,
    redirect: "manual",
  });
  const sent: unknown = answer.ok ? await answer.json().catch(() => undefined) : undefined;
  const keys = (sent as { keys?: unknown } | undefined)?.keys;
  if (!Array.isArray(keys)) throw new ProviderError("The provider sends no keys at jwks_uri.");
  return keys.flatMap(({ kty, use }: { kty?: unknown; use?: unknown } = {}) =>
    ["RSA", "EC", "OKP"].includes(String(kty)) && (use === undefined || use === "sig")
      ? [String(kty)]
      : [],
  );
}

function describeKeys(keys: string[] | Failure): Finding {
  if ("failure" in keys) return { part: "keys", isOk: false, text: keys.failure };
  const isOk = keys.length > 0;
  const text = isOk
    ? `The provider has ${plural(keys.length, "key")} for signatures: ${keys.join(", ")}.`
    : "The provider has no key that can verify a signature.";
  return { part: "keys", isOk, text };
}

/** Describes what a sign-in will use. */
function describeAbilities(metadata: OpenId.ServerMetadata, config: ClaimConfig): Finding[] {
  const methods = metadata.code_challenge_methods_supported;
  const challenges = Array.isArray(methods) ? methods : undefined;
  return [
    {
      part: "PKCE",
      isOk: challenges?.includes("S256") ?? true,
      text: challenges?.includes("S256")
        ? "The provider supports S256."
        : challenges
          ? "The provider does not support S256."
          : "The provider does not say if it supports S256, which is used.",
    },
    { part: "scopes", isOk: true, text: `Asked for: ${scopeOf(metadata, config)}.` },
  ];
}
