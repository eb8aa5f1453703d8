import type { FieldError } from "../../../errors";
import { presentClientCertificate } from "./client-certificate";
import { completed, type HttpConfig, HTTP_SECRET_FIELDS } from "./http-config";
import { presentProxy } from "./http-proxy";
import { presentOAuth2 } from "./oauth2";
import { secretPartRules } from "./secret-parts";
import { secretRules, type Servers } from "./secrets";
import { parseUrl } from "./urls";

/** Headers and bodies are secrets of the origin to which they are sent, and of the proxy. */
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
      ...(config.oauth2 ? [named("token server", config.oauth2.token_url)] : []),
    ],
  },
  client_certificate: { names: ["key"], serversOf: ({ url }) => [named("server", url)] },
  proxy: { names: ["password"], serversOf: proxiesOf },
});

/** Names the servers that get a request. A proxy may read it. */
function serversOf(config: HttpConfig): Servers {
  return [named("server", config.url), ...proxiesOf(config)];
}

function proxiesOf({ proxy }: HttpConfig): Servers {
  return proxy ? [named("proxy", proxy.url)] : [];
}

/** Returns a name for the server of a URL in a role; undefined for an invalid URL. */
function named(role: string, url: string): string | undefined {
  const origin = parseUrl(url)?.origin;
  return origin === undefined ? undefined : `${role} ${origin}`;
}

/** Returns the config as it is shown, with defaults and without secrets. */
export function presentHttp(config: HttpConfig): Record<string, unknown> {
  const { oauth2, client_certificate: client, proxy } = config;
  return {
    ...HTTP_SECRETS.withoutSecrets(completed(config)),
    oauth2: oauth2 ? presentOAuth2(oauth2) : null,
    client_certificate: client ? presentClientCertificate(client) : null,
    proxy: proxy ? presentProxy(proxy) : null,
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
