import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { type ClientAddress, parseClientAddress } from "../base/client-address";
import { isInNetworks } from "../base/config/parse";
import type { Ctx } from "../context";

/** Requests with forwarding headers after which an untrusted peer is reported as a possible proxy. */
const SUSPICIOUS_REQUESTS = 20;

export interface ClientAddresses {
  /**
   * Returns the client address of a request. `peer` is the address of the socket. `X-Forwarded-For` is
   * read from the right, as long as the hop that added the entry is a trusted proxy.
   */
  of(peer: string, headers: Headers): ClientAddress;
  /**
   * Returns the peer that is probably a proxy missing from the configuration: untrusted, on this machine or
   * in a private network, and sending forwarding headers repeatedly. Never a public address, since any
   * client can send such headers.
   */
  suspectedProxy(): string | undefined;
  /**
   * Returns the newest peer that sent a forwarding header and is not trusted. `at` is monotonic, in ms. Only with
   * `--cdn`: then all requests come through proxies that are trusted.
   */
  newestUntrusted(): { ip: string; at: number } | undefined;
}

/**
 * Limit of addresses of sockets and forwarding headers that are kept parsed. Without these, a public page
 * takes 1.6 µs more per request (of 13 to 16 µs).
 */
const PARSED_ADDRESSES = 1_000;
/** Longest text that is kept: an IPv6 address without a zone. */
const KEPT_TEXT_MAX = 45;

/** An address that a request passed through. */
interface Hop {
  address: ClientAddress;
  isTrusted: boolean;
}

const UNKNOWN: ClientAddress = { ip: "0.0.0.0", network: "0.0.0.0", isDoubtful: true };

export function createClientAddresses(ctx: Ctx): ClientAddresses {
  const trusted = ctx.config.trustedProxies;
  const hops = new LRUCache<string, Hop>({ max: PARSED_ADDRESSES });
  const suspicions = new LRUCache<string, number>({ max: PARSED_ADDRESSES });
  let suspect: string | undefined;
  let untrusted: ReturnType<ClientAddresses["newestUntrusted"]>;

  function isTrusted(address: ClientAddress): boolean {
    return trusted.length > 0 && isInNetworks(ipaddr.parse(address.ip), trusted);
  }

  /** Parses an address; undefined for other text. */
  function parseHop(text: string): Hop | undefined {
    const kept = hops.get(text);
    if (kept) return kept;
    const address = parseClientAddress(text);
    if (!address) return undefined;
    const hop = { address, isTrusted: isTrusted(address) };
    if (text.length <= KEPT_TEXT_MAX) hops.set(text, hop);
    return hop;
  }

  function noteUntrusted(peer: ClientAddress): void {
    if (ctx.config.cdn !== undefined) {
      untrusted = { ip: peer.ip, at: ctx.clock.monotonic() };
      return;
    }
    if (suspect !== undefined || !isProxyLocation(peer)) return;
    const seen = (suspicions.get(peer.ip) ?? 0) + 1;
    suspicions.set(peer.ip, seen);
    if (seen < SUSPICIOUS_REQUESTS) return;
    suspect = peer.ip;
    ctx.log.warn(
      { peer: peer.ip },
      "the header X-Forwarded-For of requests from this address is ignored: if it is your reverse proxy, all clients behind it share one rate limit; add it to ALLCLEAR_TRUSTED_PROXIES",
    );
  }

  return {
    of(peer, headers) {
      const socket = parseHop(peer) ?? { address: UNKNOWN, isTrusted: isTrusted(UNKNOWN) };
      const forwarded = headers.get("x-forwarded-for");
      if (socket.isTrusted) {
        // The peer is a trusted proxy that did not name its client.
        if (forwarded === null) return { ...socket.address, isDoubtful: true };
        return walkBack(socket.address, forwarded, parseHop);
      }
      if (forwarded === null && !headers.has("forwarded")) return socket.address;
      noteUntrusted(socket.address);
      return { ...socket.address, isDoubtful: true };
    },
    suspectedProxy: () => suspect,
    newestUntrusted: () => untrusted,
  };
}

const PROXY_RANGES = new Set([
  "loopback",
  "private",
  "linkLocal",
  "uniqueLocal",
  "carrierGradeNat",
]);

/** Returns true for an address on this machine or in a private network. */
function isProxyLocation({ ip }: ClientAddress): boolean {
  return PROXY_RANGES.has(ipaddr.parse(ip).range());
}

/**
 * Follows the hops from the right: after each trusted one, the next counts. Stops at an unreadable hop. The address of a
 * hop that sent the header itself, and is not trusted, may be that of another proxy.
 */
function walkBack(
  socket: ClientAddress,
  forwarded: string,
  parseHop: (text: string) => Hop | undefined,
): ClientAddress {
  let client = socket;
  const entries = forwarded.split(",");
  for (let text = entries.pop(); text !== undefined; text = entries.pop()) {
    const hop = parseHop(stripPort(text.trim()));
    if (!hop) return { ...client, isDoubtful: true };
    client = hop.address;
    if (!hop.isTrusted) return entries.length === 0 ? client : { ...client, isDoubtful: true };
  }
  return client;
}

/** Removes the port that some proxies add, as in `1.2.3.4:5678` and `[2001:db8::1]:5678`. */
function stripPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(hop);
  if (bracketed) return bracketed[1] ?? "";
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}
