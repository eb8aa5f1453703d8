import { isIP } from "node:net";
import type { Policy } from "./policy";

/** A host as it was written, in the one spelling in which it is used. */
export interface Host {
  /** A name in lower case and ASCII (IDNA), or an address without brackets. */
  name: string;
  isAddress: boolean;
}

// What a URL would take for its end, its port or its user info. A zone (`%eth0`) belongs to link-local
// addresses, which nothing may reach.
const NOT_IN_HOSTS = /[\s/\\?#@%]/;

const LONGEST_NAME = 253;

/**
 * Reads a host as a URL's parser does, which knows every spelling of an address (`0x7f.1`,
 * `2130706433`, full-width digits) and international names. Undefined if it is none.
 */
export function parseHost(text: string): Host | undefined {
  if (text === "" || NOT_IN_HOSTS.test(text)) return undefined;
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  const isIpv6 = bare.includes(":");
  if (isIpv6 && isIP(bare) !== 6) return undefined;
  let name: string;
  try {
    name = new URL(`http://${isIpv6 ? `[${bare}]` : bare}/`).hostname;
  } catch {
    return undefined;
  }
  name = name.replace(/^\[(.*)\]$/, "$1");
  if (isIP(name) !== 0) return { name, isAddress: true };
  return name.length <= LONGEST_NAME && !name.includes("..")
    ? { name, isAddress: false }
    : undefined;
}

/**
 * What is wrong with a host that somebody wants watched or told, as far as can be said without asking
 * anybody: for the moment at which it is written down. A name is judged again by its addresses at
 * every use.
 */
export function judgeHost(text: string, policy: Policy): string | undefined {
  const host = parseHost(text);
  if (!host) return "must be a host name or an IP address";
  return host.isAddress ? policy.judge(host.name) : undefined;
}
