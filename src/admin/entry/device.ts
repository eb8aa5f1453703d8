import Bowser from "bowser";

const USER_AGENT_MAX = 400;

/** The browser's word for itself, cut to what is kept with a session. */
export function userAgentOf(request: Request): string {
  return (request.headers.get("user-agent") ?? "").slice(0, USER_AGENT_MAX);
}

/** A device as its owner would name it: "Firefox on Linux". */
export function describeDevice(userAgent: string): string {
  if (userAgent === "") return "Unknown device";
  const { browser, os } = Bowser.parse(userAgent);
  if (!browser.name) return "Unknown browser";
  return os.name ? `${browser.name} on ${os.name}` : browser.name;
}
