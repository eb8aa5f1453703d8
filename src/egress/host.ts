import ipaddr from "ipaddr.js";
import type { Policy } from "./policy";

/** A host in canonical spelling. */
export interface Host {
  /** A name in lower case and ASCII (IDNA), or an address without brackets. */
  name: string;
  isAddress: boolean;
}

// Characters that end the host of a URL, or separate its user info. A zone (`%eth0`) belongs to a
// link-local address, which no policy allows.
const NOT_IN_HOSTS = /[\s/\\?#@%]/;

const LONGEST_NAME = 253;

// URLs contain no other hosts of this form.
const IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;

// Names of the DNS and of hosts files: letters, digits, underscores and, inside a label, hyphens. Programs
// cannot read such a name as an option.
const NAME =
  /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/;

/**
 * Parses a host as in a URL, with all spellings of addresses (`0x7f.1`, `2130706433`, full-width digits) and
 * international names. Returns undefined for other text.
 */
export function parseHost(text: string): Host | undefined {
  if (text === "" || NOT_IN_HOSTS.test(text)) return undefined;
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  const isIpv6 = bare.includes(":");
  if (isIpv6 && !ipaddr.IPv6.isValid(bare)) return undefined;
  let hostname: string;
  try {
    hostname = new URL(`http://${isIpv6 ? `[${bare}]` : bare}/`).hostname;
  } catch {
    return undefined;
  }
  return hostOf(hostname);
}

/** Returns the host of a parsed URL, in which addresses are in canonical spelling; undefined for other text. */
export function hostOf(hostname: string): Host | undefined {
  if (hostname.startsWith("[")) return { name: hostname.slice(1, -1), isAddress: true };
  if (IPV4.test(hostname)) return { name: hostname, isAddress: true };
  return hostname.length <= LONGEST_NAME && NAME.test(hostname)
    ? { name: hostname, isAddress: false }
    : undefined;
}

/**
 * Returns the error of a host in a monitor or webhook, as far as it is known without a DNS query. The
 * addresses of a name are checked at every use.
 */
export function hostError(text: string, policy: Policy): string | undefined {
  const host = parseHost(text);
  if (!host) return "must be a host name or an IP address";
  return host.isAddress ? policy.addressError(host.name) : undefined;
}

/** Parses a resolver: `address`, `address:port` or `[v6]:port`; undefined for other text. */
export function parseResolver(text: string): { address: string; port: number } | undefined {
  const [, bracketed, plain, port = "53"] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = parseHost(bracketed ?? plain ?? text);
  const number = Number(port);
  if (!host?.isAddress || number < 1 || number > 65_535) return undefined;
  return { address: host.name, port: number };
}
