import ipaddr from "ipaddr.js";
import type { Config } from "../base/config/options";
import { isInNetworks, type Network, PRIVATE_RANGES } from "../base/config/parse";
import type { PolicyName } from "./model";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses that a kind of request may reach. */
export interface Policy {
  /**
   * Returns the reason for which an address is forbidden, as the end of a sentence ("is …");
   * undefined if it is allowed.
   */
  addressError(address: string): string | undefined;
}

/**
 * Addresses at which clouds give metadata and credentials to their machines, in addition to link-local ones: AWS,
 * Google, Oracle and Scaleway over IPv6, Alibaba, Oracle, Azure.
 */
const METADATA: ReadonlySet<string> = new Set([
  "fd00:ec2::254",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
]);

/** Ranges without services. */
const WITHOUT_SERVICES: ReadonlySet<string> = new Set([
  "unspecified",
  "multicast",
  "broadcast",
  "discard",
]);

const GLOBAL_IPV6 = ipaddr.IPv6.parse("2000::");

/**
 * Policy of monitors: private networks are allowed, since many monitored services are there.
 * Link-local and metadata addresses are forbidden in every spelling and wrapping.
 */
export const monitorPolicy: Policy = {
  addressError: (address) => addressErrorOf(address, neverReached),
};

/** Policy of requests without TLS to a server that the operator names: only private and loopback addresses. */
const privatePolicy: Policy = {
  addressError: (address) =>
    addressErrorOf(
      address,
      (parsed) =>
        neverReached(parsed) ??
        (PRIVATE_RANGES.has(parsed.range())
          ? undefined
          : "is not a private address, which is needed without https"),
    ),
};

/** Reason why webhooks may not reach a private address, with the settings that allow it. */
const NOT_PUBLIC =
  "is not an address of the public internet; to allow its network, use Settings → General → Allowed networks or ALLCLEAR_OUTBOUND_ALLOW";

/**
 * Policy of webhooks: globally routable addresses (by IANA's registries) and networks that the
 * installation allows. Addresses forbidden to monitors stay forbidden.
 */
export function webhookPolicy(allowed: readonly Network[]): Policy {
  return webhookPolicyOf(() => allowed);
}

function webhookPolicyOf(allowed: () => readonly Network[]): Policy {
  return {
    addressError: (address) =>
      addressErrorOf(
        address,
        (parsed) =>
          neverReached(parsed) ??
          (isInNetworks(parsed, allowed()) || isGlobal(parsed) ? undefined : NOT_PUBLIC),
      ),
  };
}

/** Reason why mail may not reach a private address, with the settings that allow it. */
const NOT_PUBLIC_RELAY =
  "is not an address of the public internet; to allow it, name the relay by ALLCLEAR_SMTP_HOST, or its network by ALLCLEAR_OUTBOUND_ALLOW";

/**
 * Policy of mail. A relay that a flag or a variable names may have a private or loopback address. One that
 * the dashboard names may only if `ALLCLEAR_OUTBOUND_ALLOW` contains it.
 */
function mailPolicy(config: () => MailPolicyConfig | undefined): Policy {
  return {
    addressError: (address) =>
      addressErrorOf(address, (parsed) => {
        const { smtpHost, outboundAllow = [] } = config() ?? {};
        const problem = neverReached(parsed);
        if (problem !== undefined || smtpHost !== undefined) return problem;
        return isInNetworks(parsed, outboundAllow) || isGlobal(parsed)
          ? undefined
          : NOT_PUBLIC_RELAY;
      }),
  };
}

type MailPolicyConfig = Pick<Config, "smtpHost" | "outboundAllow">;

/** Returns the policies of an installation, whose allowed networks may change. */
export function policiesOf(deps: {
  readonly allowedNetworks: readonly Network[];
  readonly config?: MailPolicyConfig;
}): Record<PolicyName, Policy> {
  return {
    monitor: monitorPolicy,
    webhook: webhookPolicyOf(() => deps.allowedNetworks),
    mail: mailPolicy(() => deps.config),
    private: privatePolicy,
  };
}

/**
 * Returns the reason why allowing a network has no effect, as the end of a sentence: no request ever
 * reaches its addresses. A network that also contains other addresses has no error.
 */
export function networkError([address, bits]: Network): string | undefined {
  const cidr = `${address.toString()}/${bits}`;
  if (bits === (address.kind() === "ipv4" ? 32 : 128)) {
    return monitorPolicy.addressError(address.toString());
  }
  const [first, last] =
    address.kind() === "ipv4"
      ? [ipaddr.IPv4.networkAddressFromCIDR(cidr), ipaddr.IPv4.broadcastAddressFromCIDR(cidr)]
      : [ipaddr.IPv6.networkAddressFromCIDR(cidr), ipaddr.IPv6.broadcastAddressFromCIDR(cidr)];
  if (first.range() !== last.range()) return undefined;
  if (METADATA.has(first.toString())) return undefined;
  return neverReached(first);
}

function addressErrorOf(
  text: string,
  addressError: (address: Address) => string | undefined,
): string | undefined {
  const address = parseAddress(text);
  if (!address) return "is no address";
  if (!(address instanceof ipaddr.IPv6)) return addressError(address);
  for (const hidden of hiddenIpv4(address)) {
    const problem = metadataProblem(hidden);
    if (problem) return problem;
  }
  // The connection reaches the carried address, so that is the one to check.
  return addressError(carriedIpv4(address) ?? address);
}

/** Parses an address, a mapped IPv4 address as such; undefined for other text. */
function parseAddress(text: string): Address | undefined {
  try {
    return ipaddr.process(text);
  } catch {
    return undefined;
  }
}

function neverReached(address: Address): string | undefined {
  const range = address.range();
  const problem = metadataProblem(address, range);
  if (problem) return problem;
  return WITHOUT_SERVICES.has(range) ? "is not an address that a service has" : undefined;
}

function metadataProblem(address: Address, range: string = address.range()): string | undefined {
  if (range === "linkLocal") {
    return "is a link-local address, where clouds keep their metadata";
  }
  return METADATA.has(address.toString())
    ? "is an address at which a cloud keeps its metadata"
    : undefined;
}

function isGlobal(address: Address): boolean {
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6, 3);
}

/** Global unicast address, with the network that is expected to fail as a whole. */
export interface OutsideAddress {
  /** Canonical spelling. An IPv6 address that carries an IPv4 one counts as that. */
  address: string;
  /** The /16 of an IPv4 address, the /48 of an IPv6 address. */
  network: string;
}

/** Returns a global unicast address with its network; undefined for other addresses, which may be local. */
export function outsideAddressOf(text: string): OutsideAddress | undefined {
  const parsed = parseAddress(text);
  const carried = parsed instanceof ipaddr.IPv6 ? carriedIpv4(parsed) : undefined;
  const address = carried ?? parsed;
  if (!address || !isGlobal(address)) return undefined;
  const network =
    address instanceof ipaddr.IPv4
      ? address.octets.slice(0, 2).join(".")
      : address.parts
          .slice(0, 3)
          .map((part) => part.toString(16))
          .join(":");
  return { address: address.toString(), network };
}

/**
 * Returns the IPv4 address that an IPv6 address is translated or tunnelled to: IPv4-compatible (RFC 4291),
 * IPv4-translated (RFC 2765), NAT64 (RFC 6052, RFC 8215) and 6to4 (RFC 3056). Mapped addresses were
 * converted before.
 */
function carriedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const parts = address.parts;
  switch (address.range()) {
    case "rfc6145":
    case "rfc6052":
      return ipv4Of(parts[6], parts[7]);
    case "6to4":
      return ipv4Of(parts[1], parts[2]);
    default:
      return parts.slice(0, 6).every((part) => part === 0) && parts[6] !== 0
        ? ipv4Of(parts[6], parts[7])
        : undefined;
  }
}

/**
 * Returns the IPv4 addresses that an IPv6 address may also lead to: both ends of a Teredo tunnel (RFC 4380),
 * the address in ISATAP behind any prefix (RFC 5214), and those in NAT64's local prefix with a length of less
 * than 96 bits (RFC 6052, RFC 8215).
 */
function hiddenIpv4({ parts }: ipaddr.IPv6): ipaddr.IPv4[] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = parts;
  const hidden: ipaddr.IPv4[] = [];
  if (a === 0x2001 && b === 0) hidden.push(ipv4Of(c, d), ipv4Of(g ^ 0xffff, h ^ 0xffff));
  if ((e & 0xfdff) === 0 && f === 0x5efe) hidden.push(ipv4Of(g, h));
  if (a === 0x64 && b === 0xff9b && c === 1) {
    // The bits from 64 to 71 are not part of the address.
    const [fifth, sixth, seventh] = [e & 0xff, f >> 8, f & 0xff];
    hidden.push(
      ipv4Of(d, (fifth << 8) | sixth),
      ipv4Of(((d & 0xff) << 8) | fifth, f),
      ipv4Of((fifth << 8) | sixth, (seventh << 8) | (g >> 8)),
    );
  }
  return hidden;
}

function ipv4Of(high = 0, low = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

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
