import { VERSION } from "../version";
import type { HttpRequest } from "./model";

/** Headers about the length of the message and the connection, which are set here. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

// A token and a field value of RFC 9110.
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns a text as a header value with one character for each byte of its UTF-8. */
export function toHeaderValue(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Returns the error of a header to send, without its value; undefined for a valid one. */
export function headerError(name: string, value: string): string | undefined {
  if (OWN_HEADERS.has(name.toLowerCase())) return "is set by Allclear itself";
  if (!NAME.test(name)) return "has a name that HTTP does not allow";
  if (!VALUE.test(value)) return "has a value with characters that HTTP does not allow";
  return undefined;
}

/** Returns the URL of a request with the host by which the server is known. */
export function namedUrl({ url, hostName }: HttpRequest): URL {
  return (hostName === undefined ? null : URL.parse(`${url.protocol}//${hostName}`)) ?? url;
}

/** Returns the headers to send by their names in lower case, with the names as they are spelt. */
export function headersToSend(
  request: HttpRequest,
): Map<string, readonly [name: string, value: string]> {
  const { method, headers, body = "" } = request;
  const isEmptyBody = body === "" && !METHODS_WITH_BODY.has(method);
  const all = {
    Host: namedUrl(request).host,
    "User-Agent": `Allclear/${VERSION}`,
    Accept: "*/*",
    ...headers,
    ...(!isEmptyBody && { "Content-Length": String(Buffer.byteLength(body)) }),
  };
  return new Map(
    Object.entries(all).map(([name, value]) => [name.toLowerCase(), [name, value] as const]),
  );
}

/** Methods whose requests declare their length even without a body. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** Returns headers by name; values of one name are joined by ", ". */
export function headersOf(
  lines: readonly (readonly [name: string, value: string])[],
): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of lines) {
    const before = headers.get(name);
    const text = headerText(value);
    headers.set(name, before === undefined ? text : `${before}, ${text}`);
  }
  return headers;
}

/** Returns the text of a header value with one character per byte: as UTF-8, else as windows-1252. */
export function headerText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
