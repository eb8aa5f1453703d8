import { parseWebUrl } from "../../base/web-url";
import { basicAuthorization, decoded, type Notes, withoutCredentials } from "../kit";
import { type EndpointType, type ReadConditions, TIMEOUT_MIN_MS } from "./conditions";
import type { Secrets } from "./secrets";
import type { Client, Endpoint } from "./tables";

/** Everything that decides the config of a monitor. */
export interface Sources {
  endpoint: Endpoint;
  /** URL of the endpoint. */
  url: string;
  client: Partial<Client>;
  conditions: ReadConditions;
  reading: Reading;
  notes: Notes;
}

/** Returns the config of an HTTP monitor. */
export function httpConfig({ endpoint, url, client, conditions, reading, notes }: Sources) {
  const { method = "GET" } = endpoint;
  const isHttps = /^https:/i.test(url);
  const { url: plainUrl, credentials } = withoutCredentials(url);
  reading.secrets.add(credentials?.password);
  reading.secrets.add(URL.parse(url)?.password);
  const headers: Record<string, string> = { ...endpoint.headers };
  const setUnlessSet = (name: string, value: string) => {
    const lower = name.toLowerCase();
    if (!Object.keys(headers).some((each) => each.toLowerCase() === lower)) headers[name] = value;
  };
  if (credentials) setUnlessSet("Authorization", basicAuthorization(credentials));
  if (endpoint.graphql) setUnlessSet("Content-Type", "application/json");
  reading.secrets.addHeaders(headers);
  const { host, others } = hostIn(headers);
  const text = bodyOf(endpoint, url, notes);
  const body = endpoint.graphql ? JSON.stringify({ query: text }) : text;
  const canSend = method !== "GET" && method !== "HEAD";
  if (body !== "" && !canSend) notes.disable(`Its body cannot be sent with ${method}.`);
  const isUsable = ({ source }: { source: string }) => isHttps || source !== "certificate_days";
  if (!conditions.assertions.every(isUsable)) {
    notes.disable("A condition is about a certificate, which a URL with http:// does not have.");
  }
  return {
    url: plainUrl,
    ...(method !== "GET" && { method }),
    ...(host !== undefined && { host }),
    ...(Object.keys(others).length > 0 && { headers: others }),
    ...(body !== "" && canSend && { body }),
    assertions: conditions.assertions.filter(isUsable),
    certificate_warning_days: 0,
    ...httpClientOf(client, isHttps, reading, notes),
  };
}

/** Takes a header Host out of others, as the host of the configuration. */
function hostIn(headers: Readonly<Record<string, string>>) {
  const isHost = ([name]: [string, string]) => name.toLowerCase() === "host";
  const entries = Object.entries(headers);
  return {
    host: entries.find(isHost)?.[1].trim() || undefined,
    others: Object.fromEntries(entries.filter((entry) => !isHost(entry))),
  };
}

/** Returns the body with the placeholders that stay the same for all checks. */
export function bodyOf(
  { body = "", name = "", group = "" }: Endpoint,
  url: string,
  notes: Notes,
): string {
  if (/\[RANDOM_STRING_\d+\]/.test(body)) notes.disable("Its body has a random text.");
  return body
    .replaceAll("[ENDPOINT_NAME]", () => name)
    .replaceAll("[ENDPOINT_GROUP]", () => group)
    .replaceAll("[ENDPOINT_URL]", () => url);
}

/** Returns the text of a file that a configuration names; undefined if it cannot be read. */
export type ReadNamedFile = (path: string) => string | undefined;

/** Context in which the endpoints of a configuration are read. */
export interface Reading {
  /** Places of fields that this version does not know. */
  notRead: Set<string>;
  secrets: Secrets;
  readFile: ReadNamedFile;
}

const TIMEOUT_MS = { default: 10_000, min: TIMEOUT_MIN_MS, max: 60_000 };

/** Returns the time limit of a check in ms. */
export function timeoutOf(
  { timeout = 0 }: Partial<Client>,
  { timeoutMs = Infinity }: Pick<ReadConditions, "timeoutMs">,
  notes: Notes,
): number {
  const own = timeout < 1 ? TIMEOUT_MS.default : timeout;
  const limited = notes.limited("client.timeout", own, TIMEOUT_MS);
  return Math.min(limited, timeoutMs);
}

/** Notes the settings of a client that have no counterpart, for all types. */
export function noteClient(client: Partial<Client>, type: EndpointType, notes: Notes): void {
  if (client["dns-resolver"]) notes.disable("It has a DNS resolver of its own.");
  if (client["identity-aware-proxy"]) notes.disable("It signs in at an identity-aware proxy.");
  if (client.tunnel) notes.disable("It connects through an SSH tunnel.");
  if (client["store-cookies"]) notes.disable("It keeps cookies between checks.");
  const { network = "ip" } = client;
  if (network !== "ip") {
    const reason = "Addresses of both families are used.";
    // As it is written, so that secrets in it are found.
    notes.changes.push({ field: "client.network", from: network, to: null, reason });
  }
  if (type === "http") return;
  for (const name of ["oauth2", "proxy-url", "tls"] as const) {
    if (client[name])
      notes.change(`client.${name}`, "set", null, "It is used by HTTP checks only.");
  }
}

/** Returns the parts of an HTTP monitor's config that a client decides. */
function httpClientOf(
  client: Partial<Client>,
  isHttps: boolean,
  { secrets, readFile }: Reading,
  notes: Notes,
) {
  return {
    ...(client.insecure && { verify_tls: false }),
    ...(client["ignore-redirect"] && { follow_redirects: false }),
    ...oauth2Of(client, secrets),
    ...(isHttps ? certificateOf(client, readFile, notes) : {}),
    ...proxyOf(client, secrets, notes),
  };
}

function oauth2Of({ oauth2 }: Partial<Client>, secrets: Secrets) {
  if (!oauth2) return {};
  secrets.add(oauth2["client-secret"]);
  return {
    oauth2: {
      token_url: oauth2["token-url"] ?? "",
      client_id: oauth2["client-id"] ?? "",
      client_secret: oauth2["client-secret"] ?? "",
      scopes: [...(oauth2.scopes ?? [])],
    },
  };
}

function certificateOf({ tls }: Partial<Client>, readFile: ReadNamedFile, notes: Notes) {
  const [certificateFile, keyFile] = [tls?.["certificate-file"], tls?.["private-key-file"]];
  if (!certificateFile || !keyFile) return {};
  const [certificate, key] = [readFile(certificateFile), readFile(keyFile)];
  if (certificate === undefined || key === undefined) {
    notes.disable("The files of its client certificate cannot be read from here.");
    return {};
  }
  return { client_certificate: { certificate, key } };
}

/** Returns the proxy. Its user and password are part of the URL there. */
function proxyOf(client: Partial<Client>, secrets: Secrets, notes: Notes) {
  const text = client["proxy-url"];
  if (!text) return {};
  const url = parseWebUrl(text);
  if (!url) {
    secrets.add(text);
    notes.disable("Its proxy is none for HTTP.");
    return {};
  }
  const password = decoded(url.password);
  secrets.add(password);
  const username = decoded(url.username);
  return {
    proxy: {
      url: url.origin,
      ...(username !== "" && { username }),
      ...(password !== "" && { password }),
    },
  };
}
