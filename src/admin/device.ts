import Bowser from "bowser";
import type { SessionOrigin } from "../features/auth";
import type { RequestContext } from "../http";

/** Where a session that a request begins is started from. */
export function sessionOriginOf(request: Request, requestContext: RequestContext): SessionOrigin {
  return { ip: requestContext.address.ip, userAgent: request.headers.get("user-agent") ?? "" };
}

/** A device as its owner would name it: "Firefox on Linux". */
export function describeDevice(userAgent: string): string {
  if (userAgent === "") return "Unknown device";
  const { browser, os } = Bowser.parse(userAgent);
  if (!browser.name) return "Unknown browser";
  return os.name ? `${browser.name} on ${os.name}` : browser.name;
}
