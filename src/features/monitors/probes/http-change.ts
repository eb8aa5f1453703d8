import type { FieldError } from "../../../base/errors";
import { presentClientCertificate } from "./client-certificate";
import { placeOf } from "./connect-to";
import { certifiedBy, DEFAULT_TLS_MIN } from "./fields";
import { completed, type HttpConfig, HttpConfigBody, HTTP_SECRET_FIELDS } from "./http-config";
import { presentDigest } from "./http-digest";
import { presentProxy } from "./http-proxy";
import { presentOAuth2 } from "./oauth2";
import { secretPartRules } from "./secret-parts";
import { secretRules, steeringUsesOf, type Uses, usesByFields, versionsOf } from "./secrets";
import { parseUrl } from "./urls";

/** Headers and bodies are secrets of the servers that get a request, and of that request. */
export const HTTP_SECRETS = secretRules<HttpConfig>(HTTP_SECRET_FIELDS, usesOf);

/**
 * The client secret is sent to the token server, and the token to the origin of the URL, both through the
 * proxy. The key identifies this server to the origin of the URL and is sent nowhere.
 */
export const HTTP_PARTS = secretPartRules<HttpConfig>({
  oauth2: {
    names: ["client_secret"],
    usesOf: (config) => [...usesOf(config), ...tokenUsesOf(config)],
  },
  client_certificate: {
    names: ["key"],
    // Another authority gets no key, since it is sent nowhere.
    usesOf: (config) => [...requestUsesOf(config), ...serverOf(config)],
  },
  proxy: {
    names: ["password"],
    usesOf: (config) => [
      ...proxiesOf(config),
      ...versionsOfProxy(config),
      `to ${parseUrl(config.url)?.origin} ${placeOf(config)}`.trim(),
      // Tokens are fetched through the proxy too.
      ...(config.oauth2 ? [`to ${parseUrl(config.oauth2.token_url)?.origin}`] : []),
    ],
  },
  digest: {
    names: ["password"],
    usesOf: (config) => [...usesOf(config), `digest user ${config.digest?.username}`],
  },
});

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
function usesOf(config: HttpConfig): Uses {
  return [
    ...requestUsesOf(config),
    ...serverOf(config),
    ...certifiedBy(config.ca),
    ...certifiedBy(config.client_certificate?.ca),
    ...proxiesOf(config),
  ];
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

/** Returns the config as it is shown, with defaults and without secrets. */
export function presentHttp(config: HttpConfig): Record<string, unknown> {
  const { oauth2, client_certificate: client, proxy, digest } = config;
  return {
    ...HTTP_SECRETS.withoutSecrets(completed(config)),
    oauth2: oauth2 ? presentOAuth2(oauth2) : null,
    client_certificate: client ? presentClientCertificate(client) : null,
    proxy: proxy ? presentProxy(proxy) : null,
    digest: digest ? presentDigest(digest) : null,
  };
}

/** Returns the config after a change; null removes a field. */
export function mergeHttp(before: HttpConfig, change: Partial<HttpConfig>): HttpConfig {
  return HTTP_PARTS.keep(before, change, HTTP_SECRETS.merge(before, change));
}

/**
 * Returns errors for secrets that a change would drop; the caller must give them again, or null to
 * remove them.
 */
export function validateHttpChange(before: HttpConfig, change: Partial<HttpConfig>): FieldError[] {
  return [HTTP_SECRETS, HTTP_PARTS].flatMap((rules) => rules.validateChange(before, change));
}
