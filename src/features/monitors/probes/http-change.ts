import type { FieldError } from "../../../errors";
import { presentClientCertificate } from "./client-certificate";
import { placeOf } from "./connect-to";
import { certifiedBy } from "./fields";
import { completed, type HttpConfig, HTTP_SECRET_FIELDS } from "./http-config";
import { presentDigest } from "./http-digest";
import { presentProxy } from "./http-proxy";
import { presentOAuth2 } from "./oauth2";
import { secretPartRules } from "./secret-parts";
import { secretRules, type Servers } from "./secrets";
import { parseUrl } from "./urls";

/** Headers and bodies are secrets of the servers that get a request. */
export const HTTP_SECRETS = secretRules<HttpConfig>(HTTP_SECRET_FIELDS, serversOf);

/**
 * The client secret is sent to the token server, and the token to the origin of the URL, both through the
 * proxy. The key identifies this server to the origin of the URL and is sent nowhere.
 */
export const HTTP_PARTS = secretPartRules<HttpConfig>({
  oauth2: {
    names: ["client_secret"],
    serversOf: (config) => [
      ...serversOf(config),
      ...(config.oauth2 ? named("token server", config.oauth2.token_url, config) : []),
    ],
  },
  client_certificate: {
    names: ["key"],
    serversOf: serverOf,
  },
  proxy: { names: ["password"], serversOf: proxiesOf },
  digest: { names: ["password"], serversOf },
});

/**
 * Names the servers that get a request: that of the URL, those that further authorities certify in its
 * place, and the proxy, which may read it.
 */
function serversOf(config: HttpConfig): Servers {
  return [
    ...serverOf(config),
    ...certifiedBy(config.ca),
    ...certifiedBy(config.client_certificate?.ca),
    ...proxiesOf(config),
  ];
}

/** Names the server of the URL, with its host and the address at which it is reached. */
function serverOf(config: HttpConfig): Servers {
  const place = placeOf(config);
  return named("server", config.url, config).map((name) =>
    name === undefined || place === "" ? name : `${name} ${place}`,
  );
}

function proxiesOf(config: HttpConfig): Servers {
  return config.proxy ? named("proxy", config.proxy.url, config) : [];
}

/**
 * Names the server of a URL in a role, and any server in its place if it is not verified; undefined for an
 * invalid URL.
 */
function named(role: string, url: string, { verify_tls: verifyTls }: HttpConfig): Servers {
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
