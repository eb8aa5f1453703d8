/* Providers whose trouble gives a component its status, as visitors may know them. */
import { COMPONENT_STATUSES, type ComponentStatus } from "../../base/status";
import { spaced } from "../../base/text";

/** Provider that gives a component its status. */
export interface Because {
  /** Name of the provider, with its components if some are watched: "Cloudflare: DNS". */
  name: string;
  /** Address of its page, without a query, which may be a secret. */
  url: string;
}

/** Returns the end of the message of a check about components with a status. Visitors see what stands before it. */
export const statusPart = (status: ComponentStatus) => `: ${spaced(status)}.`;

/**
 * Returns the provider behind a trouble by the config of an `upstream` monitor and the message of its check; null for
 * one that visitors must not know.
 */
export function becauseOf(config: object, message: string | null): Because | null {
  const {
    url: address,
    components = [],
    public_name: name,
  } = config as { url: string; components?: readonly string[]; public_name?: string };
  const url = URL.parse(address);
  if (name === undefined || !url) return null;
  const end = COMPONENT_STATUSES.map(statusPart).find((part) => message?.endsWith(part));
  const named = components.length > 0 && end ? message?.slice(0, -end.length) : undefined;
  const path = url.pathname.endsWith(".json") ? "/" : url.pathname;
  return { name: named ? `${name}: ${named}` : name, url: `${url.origin}${path}` };
}
