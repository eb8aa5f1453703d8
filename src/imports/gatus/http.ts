import { httpClientOf, type Reading } from "./client";
import type { ReadConditions } from "./conditions";
import type { Notes, Secrets } from "./notes";
import { decoded } from "./url-text";
import type { Client, Endpoint } from "./yaml";

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
  const { plainUrl, credentials } = withoutCredentials(url, reading.secrets);
  const headers: Record<string, string> = { ...endpoint.headers };
  const setUnlessSet = (name: string, value: string) => {
    const lower = name.toLowerCase();
    if (!Object.keys(headers).some((each) => each.toLowerCase() === lower)) headers[name] = value;
  };
  if (credentials !== undefined) {
    setUnlessSet("Authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
  }
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

/** Returns a URL without user and password, and both as Basic authentication sends them. */
function withoutCredentials(url: string, secrets: Secrets) {
  const parsed = URL.parse(url);
  if (!parsed || (parsed.username === "" && parsed.password === "")) {
    return { plainUrl: url, credentials: undefined };
  }
  const [user, password] = [decoded(parsed.username), decoded(parsed.password)];
  secrets.add(parsed.password);
  secrets.add(password);
  parsed.username = "";
  parsed.password = "";
  return { plainUrl: parsed.href, credentials: `${user}:${password}` };
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
