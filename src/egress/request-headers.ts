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

/** Returns the error of a header to send, without its value; undefined for a valid one. */
export function headerError(name: string, value: string): string | undefined {
  if (OWN_HEADERS.has(name.toLowerCase())) return "is set by Allclear itself";
  if (!NAME.test(name)) return "has a name that HTTP does not allow";
  if (!VALUE.test(value)) return "has a value with characters that HTTP does not allow";
  return undefined;
}
