import type { MonitorRow } from "./checked";
import type { Notes } from "./notes";
import { object, text, textOf } from "./values";

/** Header values by name. Names that differ only in case are the same. */
export type Headers = Readonly<Record<string, string>>;

/** Returns headers with one that takes the place of another with this name. */
export function withHeader(headers: Headers, name: string, value: string): Headers {
  return { ...withoutHeader(headers, name), [name]: value };
}

function withoutHeader(headers: Headers, name: string): Headers {
  const kept = Object.entries(headers).filter(
    ([each]) => each.toLowerCase() !== name.toLowerCase(),
  );
  return Object.fromEntries(kept);
}

/** Takes a header Host out of others, as the host of the configuration. */
export function hostIn(headers: Headers): { host?: string; headers: Headers } {
  const [name] = Object.keys(headers).filter((each) => each.toLowerCase() === "host");
  const host = name === undefined ? "" : (headers[name] ?? "").trim();
  return host === "" ? { headers } : { host, headers: withoutHeader(headers, "Host") };
}

/** Returns the headers of a monitor; none, and a reason, if they are no JSON object. */
export function headersOf({ headers }: MonitorRow, notes: Notes): Headers {
  if (text(headers).trim() === "") return {};
  const fields = object(headers);
  if (fields) {
    // As in Uptime Kuma, later headers replace earlier ones of the same name.
    return Object.entries(fields).reduce<Headers>(
      (all, [name, value]) => withHeader(all, name, textOf(value)),
      {},
    );
  }
  notes.disable("Its headers are no JSON object, so every check fails there. Correct them.");
  return {};
}

/** Returns the value of `Authorization` for a user name and a password. */
export function basicOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** Returns a URL without user name and password, and the header that they become. */
export function withoutCredentials(text: string): { url: string; authorization?: string } {
  const url = URL.parse(text);
  if (!url || (url.username === "" && url.password === "")) return { url: text };
  const authorization = basicOf(decoded(url.username), decoded(url.password));
  url.username = "";
  url.password = "";
  return { url: url.href, authorization };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  "": "application/json",
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  xml: "text/xml; charset=utf-8",
};

/** Returns the body of a request with its media type; nothing without one. */
export function bodyOf(
  monitor: MonitorRow,
  method: string,
  notes: Notes,
): { body?: string; contentType?: string } {
  const body = text(monitor.body);
  if (body.trim() === "") return {};
  if (method === "GET" || method === "HEAD") {
    notes.drop("body", `A request with ${method} has no body here.`);
    return {};
  }
  const contentType = CONTENT_TYPES[text(monitor.http_body_encoding)];
  return contentType === undefined ? {} : { body, contentType };
}

/** Authentication of a request. */
export interface Authentication {
  authorization?: string;
  oauth2?: object;
  client_certificate?: object;
  ca?: string;
}

/** Returns the authentication of a monitor. That by NTLM is not known here. */
export function authenticationOf(monitor: MonitorRow): Authentication {
  switch (text(monitor.auth_method)) {
    case "basic":
      return {
        authorization: basicOf(text(monitor.basic_auth_user), text(monitor.basic_auth_pass)),
      };
    case "bearer":
      return { authorization: `Bearer ${text(monitor.bearer_token)}` };
    case "oauth2-cc":
      return { oauth2: oauth2Of(monitor) };
    case "mtls":
      return certificateOf(monitor);
    default:
      return {};
  }
}

function oauth2Of(monitor: MonitorRow): object {
  const scopes = text(monitor.oauth_scopes).split(/\s+/).filter(Boolean);
  const audience = text(monitor.oauth_audience);
  return {
    token_url: text(monitor.oauth_token_url),
    client_id: text(monitor.oauth_client_id),
    client_secret: text(monitor.oauth_client_secret),
    ...(scopes.length > 0 && { scopes }),
    ...(audience !== "" && { audience }),
    auth: text(monitor.oauth_auth_method) === "client_secret_post" ? "body" : "basic",
  };
}

function certificateOf(monitor: MonitorRow): Authentication {
  const [certificate = "", key = "", ca = ""] = [
    monitor.tls_cert,
    monitor.tls_key,
    monitor.tls_ca,
  ].map(text);
  if (!/^https:/i.test(text(monitor.url)) || (certificate === "" && ca === "")) return {};
  if (!certificate) return { ca };
  return { client_certificate: { certificate, key, ...(ca && { ca }) } };
}
