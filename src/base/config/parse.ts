import ipaddr from "ipaddr.js";

/** An address to listen on, or to reach a server that listens there. */
export interface ListenAddress {
  host: string;
  port: number;
}

/** A network in CIDR notation, parsed. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Ranges of addresses within a machine, a network or a private overlay network, such as those of Tailscale. */
export const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  "loopback",
  "private",
  "uniqueLocal",
  "carrierGradeNat",
]);

export function text(value: string): string {
  if (value === "") throw new Error("is empty");
  return value;
}

export function parseInteger(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new Error(`must be a whole number from ${min} to ${max}`);
    }
    return number;
  };
}

export function parseOneOf<const T extends string>(values: readonly T[]): (value: string) => T {
  return (value) => {
    const match = values.find((candidate) => candidate === value);
    if (match === undefined) throw new Error(`must be one of ${values.join(", ")}`);
    return match;
  };
}

/** Parses `host:port`, `[v6]:port`, or `:port` for all addresses of the machine. */
export function parseListen(value: string): ListenAddress {
  const address = parseHostAndPort(value);
  if (!address) throw new Error("must be HOST:PORT, such as 127.0.0.1:8080");
  return { host: address.host === "" ? "0.0.0.0" : address.host, port: address.port };
}

/** Parses a list of `host:port` or `[v6]:port`, separated by commas or spaces. */
export function parseTargets(value: string): ListenAddress[] {
  return listIn(value).map((part) => {
    const address = parseHostAndPort(part);
    if (!address || address.host === "" || address.port < 1) {
      throw new Error(`must list targets such as 1.1.1.1:443, and ${part} is not one`);
    }
    return address;
  });
}

/** Parses a host, which may be empty, and a port; undefined for other text. */
function parseHostAndPort(text: string): ListenAddress | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65_535) return undefined;
  return { host: (match[1] ?? "").replace(/^\[|\]$/g, ""), port };
}

/** Returns a host as in a URL: IPv6 in brackets. */
export function formatHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Returns the URL at which a server can be opened on its own machine. */
export function listenUrl({ host, port }: ListenAddress): string {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  return `http://${isEverywhere ? "localhost" : formatHost(host)}:${port}`;
}

// Names in the DNS have at most 253 characters.
const HOST = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])$/;

/**
 * Maximum length of a host name or an origin as people type it, in UTF-16 units. Converting international names takes
 * time that grows with the square of the length.
 */
const ADDRESS_MAX = 1_000;

// Characters that end the host of a URL, or separate its port or user info.
const NOT_IN_HOST_NAMES = /[\s/\\?#@%:[\]]/;

/** Parses the name or the address of a host. Returns names in ASCII and IPv6 addresses without brackets. */
export function parseHostName(value: string): string {
  const bare = value.replace(/^\[(.*)\]$/, "$1");
  if (ipaddr.IPv6.isValid(bare)) return bare;
  const name = NOT_IN_HOST_NAMES.test(bare) ? "" : hostOf(bare);
  if (!HOST.test(name)) {
    throw new Error("must be a host name or address without a port, such as smtp.example.com");
  }
  return name;
}

function hostOf(name: string): string {
  if (name.length > ADDRESS_MAX) return "";
  return URL.parse(`http://${name}/`)?.hostname ?? "";
}

/** Parses an http or https origin. Returns it without a slash at its end. */
export function parseBaseUrl(value: string): string {
  const url = value.length > ADDRESS_MAX ? null : URL.parse(value);
  if (!url) throw new Error("must be a URL, such as https://status.example.com");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error("must begin with http:// or https://");
  }
  // URLs allow further characters in a host, such as `$(…)`. The host is part of commands that people
  // copy, and names in the DNS do not contain them.
  if (!HOST.test(url.hostname)) throw new Error("must name a host, such as status.example.com");
  if (url.username || url.password || url.search || url.hash || url.pathname !== "/") {
    throw new Error(
      "must be an address without path or query, for example https://status.example.com",
    );
  }
  return url.origin;
}

/** Maximum lifetime of Strict-Transport-Security, in seconds: two years. */
const HSTS_MAX = 63_072_000;

/** Parses the seconds of Strict-Transport-Security; `off` sends none. */
export function parseHsts(value: string): number | "off" {
  return value === "off" ? value : parseInteger(0, HSTS_MAX)(value);
}

/** Parses a list of networks in CIDR notation or addresses, separated by commas or spaces. */
export function parseNetworks(value: string): Network[] {
  return listIn(value).map((part) => {
    try {
      return unmapped(part.includes("/") ? ipaddr.parseCIDR(part) : wholeAddress(part));
    } catch {
      throw new Error(`must list networks such as 10.0.0.0/8, and ${part} is not one`);
    }
  });
}

// Parsers of addresses also read "10/8" as 0.0.0.10/8, and zones, so only full spellings are accepted.
const NETWORK = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:.]*)(?:\/\d{1,3})?$/i;

/** Returns true for the full spelling of one network in CIDR notation, or of one address. */
export function isNetwork(text: string): boolean {
  if (!NETWORK.test(text) || /(?:^|\.)0\d/.test(text)) return false;
  try {
    return parseNetworks(text).length === 1;
  } catch {
    return false;
  }
}

/** Returns true for an address in one of the networks. */
export function isInNetworks(address: Network[0], networks: readonly Network[]): boolean {
  const kind = address.kind();
  return networks.some(
    ([network, bits]) => network.kind() === kind && address.match(network as never, bits as never),
  );
}

/** Returns a network in CIDR notation, without bits of hosts; a single address without its length. */
export function formatNetwork([address, bits]: Network): string {
  const isIpv4 = address.kind() === "ipv4";
  if (bits === (isIpv4 ? 32 : 128)) return address.toString();
  const cidr = `${address.toString()}/${bits}`;
  const network = isIpv4
    ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
    : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  return `${network.toString()}/${bits}`;
}

/** Returns valid networks in the form that is stored: in canonical spelling, each once. */
export function canonicalNetworks(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap(parseNetworks).map(formatNetwork))];
}

function listIn(value: string): string[] {
  return value.split(/[\s,]+/).filter((part) => part !== "");
}

function wholeAddress(text: string): Network {
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** Converts IPv4-mapped IPv6 networks to IPv4, as is done with client addresses. */
function unmapped([address, bits]: Network): Network {
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}

/** Parses an option's text. Throws an Error whose message ends the sentence "X …". */
type Parse<T> = (text: string) => T;

export interface Option<T> {
  /** Flag without dashes; undefined for a secret, since other processes can read arguments. */
  flag: string | undefined;
  env: string;
  parse: Parse<T>;
  default: string | undefined;
  /** Placeholder of the value in the help text. */
  placeholder: string;
  help: string;
  /**
   * Commands that take it. `everywhere`: all; `mail`: the server and commands that mail; `sign-in`: the server and
   * commands about the provider; `serve`: the server.
   */
  scope: "everywhere" | "mail" | "sign-in" | "serve";
  /** True if errors must not repeat the value, which may contain a secret. True for every option without a flag. */
  isHidden?: true;
  /** Variable that names a file with the value. A line break at its end is left out. */
  fileEnv?: string;
}

export function option<T>(declared: Option<T>): Option<T> {
  return declared;
}
