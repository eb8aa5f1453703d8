import ipaddr from "ipaddr.js";
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

// What the DNS and hosts files know: letters, digits and, inside a label, hyphens and underscores. No
// program that is handed one can take it for an option.
const NAME =
  /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/;

/**
 * Reads a host as a URL's parser does, which knows every spelling of an address (`0x7f.1`,
 * `2130706433`, full-width digits) and international names. Undefined if it is none.
 */
export function parseHost(text: string): Host | undefined {
  if (text === "" || NOT_IN_HOSTS.test(text)) return undefined;
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  const isIpv6 = bare.includes(":");
  if (isIpv6 && !ipaddr.IPv6.isValid(bare)) return undefined;
  let name: string;
  try {
    name = new URL(`http://${isIpv6 ? `[${bare}]` : bare}/`).hostname;
  } catch {
    return undefined;
  }
  name = name.replace(/^\[(.*)\]$/, "$1");
  if (isAddress(name)) return { name, isAddress: true };
  return name.length <= LONGEST_NAME && NAME.test(name) ? { name, isAddress: false } : undefined;
}

function isAddress(name: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(name) || ipaddr.IPv6.isValid(name);
}

/**
 * Returns the error of a host in a monitor or webhook, as far as it shows without a DNS query. The
 * addresses of a name are checked again at every use.
 */
export function hostError(text: string, policy: Policy): string | undefined {
  const host = parseHost(text);
  if (!host) return "must be a host name or an IP address";
  return host.isAddress ? policy.addressError(host.name) : undefined;
}
