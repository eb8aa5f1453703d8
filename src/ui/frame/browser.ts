import Bowser from "bowser";
import type { SessionOrigin } from "../../features/auth/sessions";
import type { RequestContext } from "../../http/request-context";

/** Returns the origin of a new session: IP address and User-Agent of the request. */
export function sessionOriginOf(request: Request, requestContext: RequestContext): SessionOrigin {
  return { ip: requestContext.address.ip, userAgent: request.headers.get("user-agent") ?? "" };
}

/** Returns browser and operating system as text: "Firefox on Linux". */
export function describeDevice(userAgent: string): string {
  if (userAgent === "") return "Unknown device";
  const { browser, os } = Bowser.parse(userAgent);
  if (!browser.name) return "Unknown browser";
  return os.name ? `${browser.name} on ${os.name}` : browser.name;
}

/**
 * Returns the origin in the browser's address bar as the request headers give it, since a proxy may
 * add HTTPS. Clients can forge those headers, so no access check may use it. Undefined if the Host
 * header is invalid.
 */
export function browserOrigin(request: Request): URL | undefined {
  if (!URL.canParse(request.url)) return undefined;
  const { host, protocol } = new URL(request.url);
  const isBehindHttps = request.headers.get("x-forwarded-proto") === "https";
  return new URL(`${isBehindHttps ? "https:" : protocol}//${host}`);
}
