import { Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Nullable, OneOf } from "../../../base/schema";
import { givenValues, Secret, SecretValues, shownFacts, shownParts } from "../../../base/secrets";
import { type Assertion, AssertionBody, validateAssertions } from "../assertions/assertions";
import {
  DEFAULT_TLS_MIN,
  DEFAULT_WARNING_DAYS,
  TLS_FIELDS,
  type TlsFields,
  VerifyTls,
  WarningDays,
} from "./fields";
import {
  type ClientCertificate,
  ClientCertificateBody,
  validateClientCertificate,
} from "./client-certificate";
import { type ConnectTo, ConnectToBody, KnownHost, validateConnectTo } from "./connect-to";
import { ProxyBody, type ProxySettings, validateProxy } from "./http-proxy";
import { type Digest, DigestBody } from "./http-digest";
import { type OAuth2, OAuth2Body, OAuth2Shown, validateOAuth2 } from "./oauth2";
import { HTTP_SCHEMES, parseUrl, Url, urlError, validateHeaders } from "./urls";

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
