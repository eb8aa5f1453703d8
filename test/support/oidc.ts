import { join } from "node:path";
import { SECOND_MS } from "../../src/base/time";
import { createTestApp, type TestApp } from "./app";
import { createTestClock } from "./clock";
import { certificateText } from "./raw-server";

/** Claims, or a header, of a token. */
type Fields = Record<string, unknown>;

/** Algorithms by which the provider signs, with their parameters for WebCrypto. */
const KEYS = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
  },
  PS256: {
    name: "RSA-PSS",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
    saltLength: 32,
  },
  ES512: { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" },
  EdDSA: { name: "Ed25519" },
} as const;

export type SigningAlgorithm = keyof typeof KEYS;

/** A key pair of the provider. */
export interface SigningKey {
  kid: string;
  alg: SigningAlgorithm;
  pair: CryptoKeyPair;
  jwk: JsonWebKey;
}

let keys = 0;

export async function makeSigningKey(alg: SigningAlgorithm = "ES256"): Promise<SigningKey> {
  const usages: KeyUsage[] = ["sign", "verify"];
  const pair = (await crypto.subtle.generateKey(KEYS[alg], true, usages)) as CryptoKeyPair;
  keys += 1;
  const kid = `key-${keys}`;
  return { kid, alg, pair, jwk: await crypto.subtle.exportKey("jwk", pair.publicKey) };
}

const encode = (part: Fields | Uint8Array) =>
  Buffer.from(part instanceof Uint8Array ? part : JSON.stringify(part)).toString("base64url");

/** Signs a token by a key. */
export async function signToken(
  { alg, kid, pair }: SigningKey,
  claims: Fields,
  header: Fields = {},
): Promise<string> {
  const body = `${encode({ alg, kid, typ: "JWT", ...header })}.${encode(claims)}`;
  const signature = await crypto.subtle.sign(KEYS[alg], pair.privateKey, Buffer.from(body));
  return `${body}.${encode(new Uint8Array(signature))}`;
}

/** Returns a token with a signature by a shared secret, or with none. */
export function signBySecret(claims: Fields, secret: string | undefined): string {
  const alg = secret === undefined ? "none" : "HS256";
  const body = `${encode({ alg, typ: "JWT" })}.${encode(claims)}`;
  if (secret === undefined) return `${body}.`;
  const signature = new Bun.CryptoHasher("sha256", secret).update(body).digest();
  return `${body}.${encode(signature)}`;
}

/** A request that the provider got. */
export interface ProviderRequest {
  path: string;
  headers: Headers;
  form: URLSearchParams;
}

/** An OpenID Connect provider on loopback, of which a test decides everything. */
export interface FakeProvider extends AsyncDisposable {
  issuer: string;
  /** Variables of an installation that uses it. */
  env: Record<string, string>;
  /** Claims in the ID token about the person who signs in. */
  person: Fields;
  /** Claims of UserInfo, in addition to the subject. */
  userInfo: Fields;
  /** Keys that it publishes. The first one signs. */
  keys: SigningKey[];
  /** Changes its metadata. */
  metadata: (metadata: Fields) => Fields;
  /** Changes the claims of the ID token. */
  claims: (claims: Fields) => Fields;
  /** Writes the ID token; signs it by the first key if omitted. */
  idToken: ((claims: Fields) => string | Promise<string>) | undefined;
  /** Changes the query with which it leads the browser back. */
  callback: (query: URLSearchParams) => void;
  /** Answers a request in its place. */
  answer: (path: string) => Response | Promise<Response> | undefined;
  /** Requests that it got, without those of browsers. */
  requests: ProviderRequest[];
  /** Follows an address to the provider as a browser does, and returns the path to which it leads back. */
  authorize(address: string): Promise<string>;
  /** Tokens and codes that it gave out. */
  issued: string[];
}

export const CLIENT_ID = "allclear";
export const CLIENT_SECRET = "the-secret-of-allclear-at-northwind";

/** Starts a provider; with TLS by a certificate of the tests. `now` is in unix ms. */
export async function startFakeProvider(
  now: () => number,
  { isSecure = false }: { isSecure?: boolean } = {},
): Promise<FakeProvider> {
  const codes = new Map<string, URLSearchParams>();
  const pem = isSecure ? await certificateText("good") : undefined;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    ...(pem === undefined ? {} : { tls: { cert: pem, key: pem } }),
    fetch: handle,
  });
  const origin = `${isSecure ? "https" : "http"}://127.0.0.1:${server.port}`;

  async function handle(request: Request): Promise<Response> {
    const { pathname: path, searchParams } = new URL(request.url);
    if (path === "/authorize") return leadBack(searchParams);
    const form = new URLSearchParams(await request.text());
    provider.requests.push({ path, headers: request.headers, form });
    const replaced = provider.answer(path);
    if (replaced) return replaced;
    if (path === "/.well-known/openid-configuration") {
      return Response.json(provider.metadata(ownMetadata(origin)));
    }
    if (path === "/jwks") {
      const published = provider.keys.map(({ jwk, kid, alg }) => ({
        ...jwk,
        kid,
        alg,
        use: "sig",
      }));
      return Response.json({ keys: published });
    }
    if (path === "/token") return giveToken(form);
    if (path === "/userinfo") {
      return Response.json({ sub: provider.person["sub"], ...provider.userInfo });
    }
    return new Response("not found", { status: 404 });
  }

  /** Signs the person in at once, and leads back to the client. */
  function leadBack(asked: URLSearchParams): Response {
    const code = `code-${crypto.randomUUID()}`;
    codes.set(code, asked);
    provider.issued.push(code);
    const back = new URL(asked.get("redirect_uri") ?? "");
    const query = new URLSearchParams({ code, state: asked.get("state") ?? "", iss: origin });
    provider.callback(query);
    back.search = query.toString();
    return Response.redirect(back.href, 303);
  }

  async function giveToken(form: URLSearchParams): Promise<Response> {
    const code = form.get("code") ?? "";
    const asked = codes.get(code);
    codes.delete(code);
    const challenge = new Bun.CryptoHasher("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!asked || challenge !== asked.get("code_challenge")) {
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    const at = Math.floor(now() / SECOND_MS);
    const claims = provider.claims({
      iss: origin,
      aud: CLIENT_ID,
      nonce: asked.get("nonce"),
      iat: at,
      exp: at + 300,
      ...provider.person,
    });
    const [key] = provider.keys;
    if (!key) throw new Error("the provider has no key");
    const idToken = await (provider.idToken?.(claims) ?? signToken(key, claims));
    const accessToken = `access-${crypto.randomUUID()}`;
    provider.issued.push(idToken, accessToken);
    return Response.json({
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: 300,
      id_token: idToken,
    });
  }

  const provider: FakeProvider = {
    issuer: origin,
    env: {
      ALLCLEAR_OIDC_ISSUER: origin,
      ALLCLEAR_OIDC_CLIENT_ID: CLIENT_ID,
      ALLCLEAR_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      ALLCLEAR_OIDC_NAME: "Northwind",
      ...(isSecure && { ALLCLEAR_CA_FILE: join(import.meta.dir, "certificates", "root.pem") }),
    },
    person: {
      sub: "00u-ada",
      email: "ada@northwind.example",
      email_verified: true,
      name: "Ada Lovelace",
    },
    userInfo: {},
    keys: [await makeSigningKey()],
    metadata: (metadata) => metadata,
    claims: (claims) => claims,
    idToken: undefined,
    callback: () => {},
    answer: () => undefined,
    requests: [],
    async authorize(address) {
      // The certificate is one of the tests, which only the server trusts.
      const answer = await fetch(address, {
        redirect: "manual",
        tls: { rejectUnauthorized: false },
      });
      const { pathname, search } = new URL(answer.headers.get("location") ?? "");
      return pathname + search;
    },
    issued: [],
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return provider;
}

/** An installation and its provider. */
export interface ProviderSite extends AsyncDisposable {
  app: TestApp;
  provider: FakeProvider;
}

/** Creates an installation without users and its provider, which share a clock. */
export async function createProviderSite({
  env = {},
  isSecure = false,
}: { env?: Record<string, string>; isSecure?: boolean } = {}): Promise<ProviderSite> {
  const clock = createTestClock();
  const provider = await startFakeProvider(clock.now, { isSecure });
  const app = await createTestApp({ clock, env: { ...provider.env, ...env } });
  return {
    app,
    provider,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

function ownMetadata(origin: string): Fields {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    userinfo_endpoint: `${origin}/userinfo`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256", "RS256", "PS256", "ES512", "EdDSA", "HS256"],
    code_challenge_methods_supported: ["S256"],
    scopes_supported: ["openid", "profile", "email", "groups"],
    authorization_response_iss_parameter_supported: true,
  };
}

/**
 * Follows an address at a provider as a browser does, sends its forms filled in, and returns the path to which it leads
 * back. Throws for a page without a form.
 */
export async function signInByForm(
  address: string,
  origin: string,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const cookies = new Map<string, string>();
  let at = address;
  let body: string | undefined;
  while (at.startsWith(`${origin}/`)) {
    const headers = new Headers({
      cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; "),
    });
    if (body !== undefined) headers.set("content-type", "application/x-www-form-urlencoded");
    const form = body === undefined ? {} : { method: "POST", body };
    const answer = await fetch(at, { ...form, headers, redirect: "manual" });
    for (const text of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location !== null) {
      [at, body] = [new URL(location, at).href, undefined];
      continue;
    }
    const html = await answer.text();
    if (body !== undefined || !html.includes("<form")) throw new Error(html);
    const action = /<form[^>]*\saction="([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    [at, body] = [new URL(action ?? at, at).href, new URLSearchParams(fields).toString()];
  }
  const { pathname, search } = new URL(at);
  return pathname + search;
}
