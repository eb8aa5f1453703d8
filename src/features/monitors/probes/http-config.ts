import { Type } from "@sinclair/typebox";
import { formatHost } from "../../../base/config/parse";
import { type FieldError, pointer } from "../../../base/errors";
import { Nullable, OneOf, Text } from "../../../base/schema";
import {
  givenValues,
  Secret,
  SecretPart,
  SecretValues,
  shownFacts,
  shownParts,
} from "../../../base/secrets";
import type { HttpRequest, Proxy } from "../../../egress/model";
import { parseHost } from "../../../egress/policy";
import { type Assertion, AssertionBody, validateAssertions } from "../assertions/assertions";
import {
  type ClientCertificate,
  ClientCertificateBody,
  validateClientCertificate,
} from "./client-certificate";
import {
  type ConnectTo,
  ConnectToBody,
  DEFAULT_TLS_MIN,
  DEFAULT_WARNING_DAYS,
  HTTP_SCHEMES,
  HttpUserName,
  parseUrl,
  TLS_FIELDS,
  type TlsFields,
  Url,
  urlError,
  validateConnectTo,
  validateHeaders,
  VerifyTls,
  WarningDays,
} from "./fields";
import {
  type Digest,
  DigestBody,
  type OAuth2,
  OAuth2Body,
  OAuth2Shown,
  validateOAuth2,
} from "./http-sign-in";

/*
 * The config of an HTTP monitor: its proxy, the host by which its server is known, then the whole with its defaults
 * and errors.
 */

/** HTTP proxy of the checks of a monitor. */
interface ProxySettings {
  url: string;
  username?: string;
  /** Secret. */
  password?: string | null;
}

const ProxyBody = Type.Object(
  {
    url: Url(HTTP_SCHEMES, "http://proxy.example.com:3128"),
    username: Type.Optional(HttpUserName),
    password: SecretPart(1_000),
  },
  {
    additionalProperties: false,
    description:
      "HTTP proxy of all connections of the checks (CONNECT). Names are resolved by Allclear, so the proxy gets addresses.",
  },
);

/** Returns errors that the schema cannot express; pointers start at the config of the monitor. */
function validateProxy({ url, username, password }: ProxySettings): FieldError[] {
  const faults: FieldError[] = [];
  const problem = urlError(url, HTTP_SCHEMES, "use username and password") ?? pathProblem(url);
  if (problem) faults.push({ pointer: pointer("proxy", "url"), detail: problem });
  if (password && username === undefined) {
    faults.push({ pointer: pointer("proxy", "username"), detail: "is required for a password" });
  }
  return faults;
}

function pathProblem(text: string): string | undefined {
  const url = parseUrl(text);
  return url && `${url.pathname}${url.search}${url.hash}` !== "/"
    ? "must be a host and a port only, such as http://proxy.example.com:3128"
    : undefined;
}

/** Returns the proxy of a request; undefined without settings. */
export function proxyOf(settings: ProxySettings | null): Proxy | undefined {
  const url = settings ? parseUrl(settings.url) : undefined;
  return url && { url, username: settings?.username ?? "", password: settings?.password ?? "" };
}

/** Schema of the host by which a web server is known. */
const KnownHost = Text({
  minLength: 1,
  maxLength: 255,
  isName: true,
  check: (text) =>
    readKnownHost(text) ? undefined : "must be a host name or an IP address, and may have a port",
  description:
    "Host by which the server is known, with a port if the header Host needs one: for that header, the name in TLS (SNI) and the verification of the certificate. Default: that of the URL.",
  examples: ["app.example.com"],
});

/** Returns a host with an optional port as a URL has it; undefined for another text. */
function readKnownHost(text: string): { host: string; port: string } | undefined {
  const [, name = "", port = ""] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = parseHost(name);
  const isPort = port === "" || (Number(port) >= 1 && Number(port) <= 65_535);
  return host && isPort ? { host: formatHost(host.name), port } : undefined;
}

/** Fields of an HTTP config about the host of its server. */
interface HostFields {
  host?: string | null;
  connect_to?: ConnectTo | null;
}

/** Returns the part of a request to the server of a URL that the fields decide. */
export function hostPartsOf(
  url: URL,
  { host, connect_to: to }: HostFields,
): Pick<HttpRequest, "hostName" | "connectTo"> {
  const { address = url.hostname, port = url.port === "" ? undefined : Number(url.port) } =
    to ?? {};
  return {
    ...(host != null && { hostName: hostNameOf(host) }),
    connectTo: { host: address, port },
  };
}

/** Returns the URL by which the server knows itself: that of the config with the host of its own. */
export function ownUrlOf(url: URL, { host }: HostFields): URL {
  if (host == null) return url;
  return URL.parse(`${url.protocol}//${hostNameOf(host)}${url.pathname}${url.search}`) ?? url;
}

function hostNameOf(text: string): string {
  const { host, port } = readKnownHost(text) ?? { host: text, port: "" };
  return port === "" ? host : `${host}:${port}`;
}

/** Names the place to which secrets go beside the origin of the URL; none without the fields. */
export function placeOf({ host, connect_to: to }: HostFields): string {
  return [host ?? "", to?.address ?? "", to?.port ?? ""].join(" ").trim();
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const IP_FAMILIES = ["any", "ipv4", "ipv6"] as const;

const ASSERTIONS_MAX = 30;

/**
 * Request of an HTTP check and its conditions on the response. Null and absent both mean the
 * default.
 */
export interface HttpConfig extends TlsFields {
  url: string;
  host?: string | null;
  connect_to?: ConnectTo | null;
  method?: (typeof METHODS)[number] | null;
  /** Header values by name. Secret: values are never shown. */
  headers?: Record<string, string | null> | null;
  /** Secret. */
  body?: string | null;
  follow_redirects?: boolean | null;
  ip_family?: (typeof IP_FAMILIES)[number] | null;
  verify_tls?: boolean | null;
  assertions?: Assertion[] | null;
  certificate_warning_days?: number | null;
  oauth2?: OAuth2 | null;
  client_certificate?: ClientCertificate | null;
  proxy?: ProxySettings | null;
  digest?: Digest | null;
  max_body_kb?: number | null;
}

const DEFAULT_BODY_KB = 256;

const MaxBody = Type.Integer({
  minimum: 1,
  maximum: 4_096,
  description: `KiB of the body that assertions read. An assertion that the rest decides fails. Default: ${DEFAULT_BODY_KB}.`,
});

const FOLLOW_REDIRECTS = "True to follow up to 10 redirects.";

export const HttpConfigBody = Type.Object(
  {
    url: Url(HTTP_SCHEMES, "https://example.com/health"),
    host: Type.Optional(KnownHost),
    connect_to: Type.Optional(ConnectToBody),
    method: Type.Optional(OneOf(METHODS, { description: "Default: GET." })),
    headers: Type.Optional(SecretValues({ description: "Headers of each request, by name." })),
    body: Type.Optional(
      Secret({
        maxLength: 64_000,
        description: "Body of each request. It is a secret and is never returned.",
      }),
    ),
    follow_redirects: Type.Optional(
      Type.Boolean({ description: `${FOLLOW_REDIRECTS} Default: true.` }),
    ),
    ip_family: Type.Optional(
      OneOf(IP_FAMILIES, { description: "Address family for connections. Default: any." }),
    ),
    verify_tls: Type.Optional(VerifyTls),
    ...TLS_FIELDS,
    assertions: Type.Optional(
      Type.Array(AssertionBody, {
        maxItems: ASSERTIONS_MAX,
        description:
          "Conditions that the response must all meet. Without one about the status, the status must be 2xx.",
      }),
    ),
    certificate_warning_days: Type.Optional(WarningDays),
    oauth2: Type.Optional(OAuth2Body),
    client_certificate: Type.Optional(ClientCertificateBody),
    proxy: Type.Optional(ProxyBody),
    digest: Type.Optional(DigestBody),
    max_body_kb: Type.Optional(MaxBody),
  },
  { additionalProperties: false, title: "HttpConfig" },
);

export const HttpConfigShown = Type.Object(
  {
    url: Type.String(),
    host: Nullable(KnownHost),
    connect_to: Nullable(Type.Object(ConnectToBody.properties)),
    method: OneOf(METHODS),
    ...shownFacts(HttpConfigBody),
    follow_redirects: Type.Boolean({ description: FOLLOW_REDIRECTS }),
    ip_family: OneOf(IP_FAMILIES),
    verify_tls: VerifyTls,
    ca: Nullable(TLS_FIELDS.ca),
    tls_min: TLS_FIELDS.tls_min,
    assertions: Type.Array(AssertionBody),
    certificate_warning_days: WarningDays,
    oauth2: Nullable(OAuth2Shown),
    client_certificate: Nullable(shownParts(ClientCertificateBody)),
    proxy: Nullable(shownParts(ProxyBody)),
    digest: Nullable(shownParts(DigestBody)),
    max_body_kb: MaxBody,
  },
  { title: "HttpConfigShown" },
);

/** Returns the config with defaults and without removed headers. */
export function completed(config: HttpConfig) {
  return {
    url: config.url,
    host: config.host ?? null,
    connect_to: config.connect_to ?? null,
    method: config.method ?? ("GET" as const),
    headers: givenValues(config.headers),
    body: config.body ?? null,
    follow_redirects: config.follow_redirects ?? true,
    ip_family: config.ip_family ?? ("any" as const),
    verify_tls: config.verify_tls ?? true,
    ca: config.ca ?? null,
    tls_min: config.tls_min ?? DEFAULT_TLS_MIN,
    assertions: config.assertions ?? [],
    certificate_warning_days: config.certificate_warning_days ?? DEFAULT_WARNING_DAYS,
    oauth2: config.oauth2 ?? null,
    client_certificate: config.client_certificate ?? null,
    proxy: config.proxy ?? null,
    digest: config.digest ?? null,
    max_body_kb: config.max_body_kb ?? DEFAULT_BODY_KB,
  };
}

const HOST_ADVICE = "must be given as host, which also decides the name in TLS";

export function validateHttp(config: HttpConfig): FieldError[] {
  const url = parseUrl(config.url);
  const faults: FieldError[] = [];
  const problem = urlError(config.url, HTTP_SCHEMES);
  if (problem) faults.push({ pointer: "#/url", detail: problem });
  faults.push(...validateHeaders(config.headers ?? {}, HOST_ADVICE), ...validateConnectTo(config));
  if (config.oauth2) {
    faults.push(...validateOAuth2(config.oauth2), ...validateNoToken(config, "OAuth 2.0"));
  }
  if (config.digest) {
    faults.push(...validateNoToken(config, "Digest sign-in"));
    if (config.oauth2) {
      faults.push({
        pointer: "#/digest",
        detail: "cannot be used with OAuth 2.0: remove one of them",
      });
    }
  }
  if (config.proxy) faults.push(...validateProxy(config.proxy));
  const { method, body } = completed(config);
  if (body !== null && (method === "GET" || method === "HEAD")) {
    faults.push({ pointer: "#/body", detail: `cannot be sent with ${method}` });
  }
  // An invalid URL gets only the error of the URL.
  const isHttps = !url || url.protocol === "https:";
  if (config.client_certificate) {
    if (!isHttps) {
      faults.push({ pointer: "#/client_certificate", detail: "needs a URL with https://" });
    }
    faults.push(...validateClientCertificate(config.client_certificate));
  }
  faults.push(...validateAssertions(config.assertions ?? [], isHttps, "assertions"));
  return faults;
}

/** Returns an error for a header that the sign-in sets. */
function validateNoToken({ headers }: HttpConfig, signIn: string): FieldError[] {
  const name = Object.keys(headers ?? {}).find((each) => each.toLowerCase() === "authorization");
  if (name === undefined || headers?.[name] === "") return [];
  return [{ pointer: pointer("headers", name), detail: `is set by ${signIn}: remove one of them` }];
}
