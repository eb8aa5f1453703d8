import ipaddr from "ipaddr.js";

/** Address of a client. */
export interface ClientAddress {
  /** The address itself, IPv4-mapped IPv6 as IPv4. */
  ip: string;
  /**
   * Network that counts as one client: an IPv4 address, or an IPv6 /64 as its first four groups.
   */
  network: string;
  /**
   * True if the client may be another one behind this address, such as that of a proxy. Undefined until all headers are
   * read; see `visitorAddress`.
   */
  isDoubtful?: boolean;
}

/**
 * Returns the site of a client, for limits that many addresses of one client must not evade: an IPv4
 * address, or an IPv6 /48, the usual size of a site (RFC 6177).
 */
export function siteOf({ network }: ClientAddress): string {
  return network.split(":", 3).join(":");
}

/**
 * Returns the texts between which the networks of a client's site are in order; undefined for IPv4, where the
 * site is the network.
 */
export function networksOfSite(
  address: ClientAddress,
): { above: string; below: string } | undefined {
  const site = siteOf(address);
  // The character after ":" is ";".
  return site === address.network ? undefined : { above: `${site}:`, below: `${site};` };
}

const PLAIN_IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;

/** Parses an address from a socket or a proxy; undefined for other text. */
export function parseClientAddress(text: string): ClientAddress | undefined {
  if (PLAIN_IPV4.test(text)) {
    return ipaddr.IPv4.isValidFourPartDecimal(text) ? { ip: text, network: text } : undefined;
  }
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  if (address.isIPv4MappedAddress()) {
    const ip = address.toIPv4Address().toString();
    return { ip, network: ip };
  }
  const groups = address.parts.map((part) => part.toString(16));
  return { ip: address.toString(), network: groups.slice(0, 4).join(":") };
}
