import { validateHeaderName, validateHeaderValue } from "node:http";

/** What says where a message ends or whose connection it is: set by whoever sends it, never given. */
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

/** What is wrong with a header that somebody wants sent, without its value; undefined if nothing is. */
export function judgeHeader(name: string, value: string): string | undefined {
  if (OWN_HEADERS.has(name.toLowerCase())) return "is set by Allclear itself";
  try {
    validateHeaderName(name);
  } catch {
    return "has a name that HTTP does not allow";
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    return "has a value with characters that HTTP does not allow";
  }
  return undefined;
}
