import { lazy } from "../../../base/lazy";
import type { Uses } from "../../../base/secrets";
import { oneLine } from "../../../base/text";
import { readBody } from "../../../egress/body";
import { headerError } from "../../../egress/http-headers";
import {
  type Certificate,
  type ClientCertificate,
  Fault,
  type HttpAnswer,
  type IpFamily,
} from "../../../egress/model";
import { checkAssertions, needBody } from "../assertions/check";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { certificatesIn } from "./client-certificate";
import {
  daysLeft,
  DEFAULT_TLS_MIN,
  elapsedMs,
  expiryWarning,
  failed,
  parseUrl,
  seen,
  tlsRulesOf,
  urlTarget,
} from "./fields";
import {
  completed,
  hostPartsOf,
  type HttpConfig,
  HttpConfigBody,
  HttpConfigShown,
  ownUrlOf,
  placeOf,
  proxyOf,
  validateHttp,
} from "./http-config";
import { completedOAuth2, DigestSignIn, sendWithToken } from "./http-sign-in";
import { partsWithSecrets, steeringUsesOf, usesByFields, versionsOf } from "./secret-uses";

/** Names the uses of the secrets of a field. */
function usesOf(config: HttpConfig, field: string): Uses {
  switch (field) {
    // The client secret is sent to the token server, and the token to the origin of the URL, both through the proxy.
    case "oauth2":
      return [...requestedUsesOf(config), ...tokenUsesOf(config)];
    // The key identifies this server to the origin of the URL. Another authority does not get the key, which is sent
    // nowhere.
    case "client_certificate":
      return [...requestUsesOf(config), ...serverOf(config)];
    // Tokens are fetched through the proxy too.
    case "proxy":
      return [
        ...proxiesOf(config),
        ...versionsOfProxy(config),
        `to ${parseUrl(config.url)?.origin} ${placeOf(config)}`.trim(),
        ...(config.oauth2 ? [`to ${parseUrl(config.oauth2.token_url)?.origin}`] : []),
      ];
    case "digest":
      return [...requestedUsesOf(config), `digest user ${config.digest?.username}`];
    // Headers and bodies are secrets of the servers that get a request, and of that request.
    default:
      return requestedUsesOf(config);
  }
}

/** Fields that decide no use, and those whose uses are named by their parts. */
const fieldUsesOf = usesByFields<HttpConfig>(
  HttpConfigBody,
  [
    "headers",
    "body",
    "follow_redirects",
    "ip_family",
    "verify_tls",
    "ca",
    "assertions",
    "certificate_warning_days",
    "oauth2",
    "client_certificate",
    "proxy",
    "digest",
    "max_body_kb",
  ],
  completed,
);

/**
 * Names the request, and the servers that get it: that of the URL, those that further authorities certify in its
 * place, and the proxy, which may read it.
 */
function requestedUsesOf(config: HttpConfig): Uses {
  return [
    ...requestUsesOf(config),
    ...serverOf(config),
    ...certifiedBy(config.ca),
    ...certifiedBy(config.client_certificate?.ca),
    ...proxiesOf(config),
  ];
}

/** Names the servers that authorities certify in the place of another one; none without authorities. */
function certifiedBy(ca: string | null | undefined): Uses {
  return ca == null ? [] : [`server certified by ${ca}`];
}

/** Names the server of the URL, with its host and the address at which it is reached. */
function serverOf(config: HttpConfig): Uses {
  const place = placeOf(config);
  return named("server", config.url, config).map((name) =>
    name === undefined || place === "" ? name : `${name} ${place}`,
  );
}

/** Names what the server is asked to do. Nothing more is asked by a request without a body, or without a header. */
function requestUsesOf(config: HttpConfig): Uses {
  return [
    ...fieldUsesOf(config),
    ...(config.body ? [`body ${config.body}`] : []),
    ...steeringUsesOf(config.headers),
  ];
}

/** Names the proxy with its user, and those that further authorities certify in its place. */
function proxiesOf(config: HttpConfig): Uses {
  const { proxy, ca } = config;
  if (!proxy) return [];
  return [...named("proxy", proxy.url, config), ...certifiedBy(ca), `proxy user ${proxy.username}`];
}

/** Names the versions of TLS with which a proxy with TLS is reached. */
function versionsOfProxy({ proxy, tls_min }: HttpConfig): Uses {
  const isTls = proxy != null && parseUrl(proxy.url)?.protocol === "https:";
  return isTls ? versionsOf(tls_min ?? DEFAULT_TLS_MIN) : [];
}

/** Names the token server, and the rights that are asked for. */
function tokenUsesOf(config: HttpConfig): Uses {
  const { oauth2 } = config;
  if (!oauth2) return [];
  const { client_id: client, scopes = [], audience } = oauth2;
  return [
    ...named("token server", oauth2.token_url, config),
    `token ${JSON.stringify([oauth2.token_url, client, scopes, audience])}`,
  ];
}

/**
 * Names the server of a URL in a role, and any server in its place if it is not verified; undefined for an
 * invalid URL.
 */
function named(role: string, url: string, { verify_tls: verifyTls }: HttpConfig): Uses {
  const origin = parseUrl(url)?.origin;
  if (origin === undefined) return [undefined];
  const isUnverified = verifyTls === false && origin.startsWith("https:");
  return [`${role} ${origin}`, ...(isUnverified ? [`unverified ${role} ${origin}`] : [])];
}

/** Returns a config with its defaults and those of its objects. */
function completedForAnswers(config: HttpConfig) {
  const { oauth2 } = config;
  return { ...completed(config), oauth2: oauth2 ? completedOAuth2(oauth2) : null };
}

/** Checks the response of a web server by assertions. */
export const httpProbe = {
  type: "http",
  label: "HTTP(S)",
  ...partsWithSecrets<HttpConfig>(HttpConfigBody, completedForAnswers, usesOf),
  shown: HttpConfigShown,
  validate: validateHttp,
  targetOf: urlTarget,
  run,
} satisfies Probe<"http", HttpConfig>;

async function run(input: HttpConfig, context: ProbeContext): Promise<ProbeResult> {
  const config = completed(input);
  const result = await check(config, context);
  const { client_certificate: client } = config;
  return client ? withExpiry(result, client.certificate, context.clock.now()) : result;
}

/** Says in the message of a failure that the client certificate has expired, since most servers do not. */
function withExpiry(result: ProbeResult, certificate: string, now: number): ProbeResult {
  const { outcome, message, publicMessage = message ?? undefined, isOwnFault = false } = result;
  if (outcome !== "failed" || message === null || isOwnFault) return result;
  const [{ expiresAt } = { expiresAt: Infinity }] = certificatesIn(certificate);
  if (expiresAt > now || message === CLIENT_EXPIRED) return result;
  return { ...result, message: oneLine(`${CLIENT_EXPIRED} ${message}`), publicMessage };
}

const CLIENT_EXPIRED = "The client certificate has expired.";

async function check(
  config: ReturnType<typeof completed>,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { clock } = context;
  const sent = await authorised(config, context);
  if (sent instanceof Fault) {
    const publicMessage = "The request could not be authorised.";
    return { ...failed(sent), isOwnFault: true, publicMessage };
  }
  const { followed, latencyMs } = sent;
  if (followed instanceof Fault) return failed(followed);
  const { answer, certificate } = followed;
  const observed = {
    status: answer.status,
    headers: answer.headers,
    latencyMs,
    certificateDays: daysLeft(certificate, clock),
    intermediate: certificate?.intermediate ?? null,
    body: () => readBody(answer, config.max_body_kb * 1024),
  };
  const checked = await checkAssertions(config.assertions, observed, context);
  return {
    ...(checked.outcome === "ok"
      ? {
          outcome: "ok",
          message: expiryWarning(certificate, config.certificate_warning_days, clock),
        }
      : checked),
    latencyMs,
    ...(certificate && { certificate: seen(certificate) }),
  };
}

/** Sends the request and follows redirects. Returns the outcome with the time from the first step. */
async function timed(config: ReturnType<typeof completed>, context: ProbeContext) {
  const startedAt = context.clock.monotonic();
  const followed = await follow(config, context);
  return { followed, latencyMs: elapsedMs(context, startedAt) };
}

/** Sends the request, with an access token if it needs one. Returns a fault if none can be fetched. */
async function authorised(
  config: ReturnType<typeof completed>,
  context: ProbeContext,
): Promise<Awaited<ReturnType<typeof timed>> | Fault> {
  const { oauth2, headers, verify_tls: verifyTls } = config;
  if (!oauth2) return timed(config, context);
  const settings = {
    ...completedOAuth2(oauth2),
    verifyTls,
    ...tlsRulesOf(config),
    proxy: proxyOf(config.proxy),
  };
  const outcome = await sendWithToken(settings, context, {
    send: (token) =>
      timed({ ...config, headers: { ...headers, Authorization: `Bearer ${token}` } }, context),
    isRejected: ({ followed }) =>
      !(followed instanceof Fault) && followed.isOfOrigin && followed.answer.status === 401,
  });
  return outcome instanceof Fault ? outcome : outcome.sent;
}

const REDIRECTS_MAX = 10;

const FAMILIES: Readonly<Record<"any" | "ipv4" | "ipv6", IpFamily | undefined>> = {
  any: undefined,
  ipv4: 4,
  ipv6: 6,
};

/** Final response after redirects. */
interface Followed {
  answer: HttpAnswer;
  /** True if no redirect led to another origin, which gets no headers. */
  isOfOrigin: boolean;
  /** Of the certificates of all responses, the one that expires first. */
  certificate: Certificate | undefined;
}

/**
 * Sends a request, signs in where the server asks for it, and follows redirects as the Fetch standard does.
 * Each address is resolved and checked. Headers, bodies, client certificates and credentials are not sent to
 * another origin; cookies that answers set are sent as browsers do. `host` and `connect_to` apply to each URL of the
 * origin of the monitor, or of that origin by its own host, as --connect-to of curl does. The body is only waited for
 * if an assertion needs it.
 */
async function follow(
  config: ReturnType<typeof completed>,
  { egress, signal, steps, contact }: Pick<ProbeContext, "egress" | "signal" | "steps" | "contact">,
): Promise<Followed | Fault> {
  let url = parseUrl(config.url);
  if (!url) return new Fault("refused", "The address is not a URL.");
  let {
    method,
    headers,
    body,
  }: { method: string; headers: Record<string, string>; body: string | null } = config;
  const [origin, ownOrigin] = [url.origin, ownUrlOf(url, config).origin];
  const hostParts = hostPartsOf(url, config);
  const isOwn = (at: URL) => at.origin === origin || at.origin === ownOrigin;
  // Cookies belong to the host by which the server knows itself.
  const known = (at: URL) => (at.origin === origin ? ownUrlOf(at, config) : at);
  let isOfOrigin = true;
  let clientCertificate = clientCertificateOf(config);
  if (clientCertificate instanceof Fault) return clientCertificate;
  const proxy = proxyOf(config.proxy);
  const cookies = new CheckCookies();
  const signIn = config.digest ? new DigestSignIn(config.digest) : undefined;
  const redirectOf = (answer: Pick<HttpAnswer, "status" | "headers" | "lines">) =>
    config.follow_redirects ? locationOf(answer) : undefined;
  let certificate: Certificate | undefined;
  for (let redirects = 0; ;) {
    const authorization = isOfOrigin ? signIn?.authorization(method, url) : undefined;
    const answer = await egress.request({
      url,
      ...(isOwn(url) && hostParts),
      method,
      headers: {
        ...cookies.addTo(headers, known(url)),
        ...(authorization !== undefined && { Authorization: authorization }),
      },
      body: body ?? undefined,
      family: FAMILIES[config.ip_family],
      verifyTls: config.verify_tls,
      ...tlsRulesOf(config),
      clientCertificate,
      proxy,
      maxBodyBytes: config.max_body_kb * 1024,
      isBodyNeeded: (head) =>
        needBody(config.assertions, head.status) &&
        redirectOf(head) === undefined &&
        !(isOfOrigin && signIn?.canAnswer(head)),
      policy: "monitor",
      signal,
      steps,
      contact,
    });
    if (answer instanceof Fault) return redirects === 0 ? answer : ofRedirect(answer);
    certificate = earlier(certificate, answer.certificate);
    if (isOfOrigin && signIn?.canAnswer(answer)) {
      cookies.take(answer, known(url));
      signIn.take(answer);
      steps?.add("sign_in", true, `Digest, ${signIn.algorithm}`);
      continue;
    }
    const location = redirectOf(answer);
    if (location === undefined) return { answer, isOfOrigin, certificate };
    if (redirects === REDIRECTS_MAX) {
      return new Fault("protocol", `There are more than ${REDIRECTS_MAX} redirects.`);
    }
    redirects += 1;
    cookies.take(answer, known(url));
    signIn?.redirected();
    const next = URL.parse(location, url);
    if (!next) return new Fault("protocol", "The redirect does not lead to a URL.");
    if (becomesGet(answer.status, method)) {
      method = method === "HEAD" ? "HEAD" : "GET";
      body = null;
    }
    if (next.origin !== url.origin && !(isOwn(next) && isOwn(url))) {
      isOfOrigin = false;
      headers = {};
      clientCertificate = undefined;
      if (body !== null) {
        return new Fault("refused", "The redirect would send the body to another server.");
      }
    }
    url = next;
  }
}

function clientCertificateOf({
  client_certificate: client,
}: ReturnType<typeof completed>): ClientCertificate | undefined | Fault {
  if (!client) return undefined;
  const { certificate, key, ca } = client;
  return key
    ? { certificate, key, ca }
    : new Fault("refused", "The client certificate has no key.");
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Returns the address of a redirect; undefined for another answer. Bytes beyond ASCII are kept, as in browsers. */
function locationOf({
  status,
  headers,
  lines = [],
}: Pick<HttpAnswer, "status" | "headers" | "lines">): string | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  const line = lines.find(([name]) => name === "location")?.[1];
  const location =
    line?.replaceAll(
      /[\x80-\xff]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
    ) ?? headers.get("location");
  return location === "" ? undefined : location;
}

/** Returns true if a redirect is followed by a GET for every original method. */
function becomesGet(status: number, method: string): boolean {
  return status === 303 || ((status === 301 || status === 302) && method === "POST");
}

function earlier(
  first: Certificate | undefined,
  next: Certificate | null,
): Certificate | undefined {
  if (!next) return first;
  return first && first.expiresAt <= next.expiresAt ? first : next;
}

function ofRedirect({ kind, message, certificate, isUndecided }: Fault): Fault {
  return new Fault(kind, `After a redirect: ${message}`, certificate, isUndecided);
}

/** Cookies that a check takes, at most: as many as browsers keep for a site. */
const COOKIES_MAX = 180;

// Loaded with the first cookie of a redirect: its list of public suffixes takes some ms to read.
const library = lazy(() => require("tough-cookie") as typeof import("tough-cookie"));

/** Cookies that one check receives while it follows redirects. They are sent as browsers would (RFC 6265). */
class CheckCookies {
  #jar: import("tough-cookie").CookieJar | undefined;
  #taken = 0;

  /** Takes the cookies of an answer. */
  take({ lines = [] }: Pick<HttpAnswer, "lines">, url: URL): void {
    const at = withoutFinalDot(url);
    for (const [name, value] of lines) {
      if (name !== "set-cookie" || this.#taken === COOKIES_MAX) continue;
      if (headerError("Cookie", value) !== undefined) continue;
      this.#taken += 1;
      const { Cookie, CookieJar, getPublicSuffix } = library();
      const cookie = Cookie.parse(value, LOOSE);
      if (!cookie) continue;
      // For browsers, the domain of a public suffix means its host alone. A name without dots counts as one.
      const isOfHost = cookie.domain === at.hostname;
      if (isOfHost && getPublicSuffix(at.hostname, ANY_NAME) === undefined) cookie.domain = null;
      this.#jar ??= new CookieJar(undefined, { looseMode: LOOSE.loose });
      this.#jar.setCookieSync(cookie, at, { ignoreError: true });
    }
  }

  /** Returns headers with the cookies for a URL. One of a given Cookie header stays unless it was set again. */
  addTo(headers: Readonly<Record<string, string>>, url: URL): Readonly<Record<string, string>> {
    const received = this.#jar?.getCookieStringSync(withoutFinalDot(url)) ?? "";
    if (received === "") return headers;
    const others = Object.entries(headers).filter(([name]) => !isCookie(name));
    const own = Object.entries(headers).find(([name]) => isCookie(name))?.[1] ?? "";
    const names = new Set(received.split("; ").map(nameOf));
    const kept = own.split(";").filter((pair) => pair.trim() !== "" && !names.has(nameOf(pair)));
    const cookies = [...kept.map((pair) => pair.trim()), received].join("; ");
    return Object.fromEntries([...others, ["Cookie", cookies]]);
  }
}

/** Browsers take cookies without a name. */
const LOOSE = { loose: true };
/** Allows names such as `shop.test`, which are for special uses. */
const ANY_NAME = { allowSpecialUseDomain: true, ignoreError: true };

/** Returns a URL whose host has no final dot, which cookies do not distinguish. */
function withoutFinalDot(url: URL): URL {
  if (!url.hostname.endsWith(".")) return url;
  const at = new URL(url);
  at.hostname = url.hostname.slice(0, -1);
  return at;
}

function isCookie(name: string): boolean {
  return name.toLowerCase() === "cookie";
}

function nameOf(pair: string): string {
  return (pair.split("=", 1)[0] ?? "").trim();
}
