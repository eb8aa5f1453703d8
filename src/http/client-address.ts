import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import type { AppContext } from "../context";
import { type ClientAddress, parseClientAddress } from "../kernel/client-address";

/** How many forwarding headers an untrusted peer sends before it is taken for a forgotten proxy. */
const SUSPICION = 20;

export interface ClientAddresses {
  /**
   * Where a request came from. `peer` is the socket's own address. `X-Forwarded-For` is read from the
   * right, hop by hop, for as long as the hop that wrote it is a trusted proxy.
   */
  of(peer: string, headers: Headers): ClientAddress;
  /**
   * The untrusted peer that keeps sending forwarding headers, if one does and stands where proxies do
   * (on this machine or in a private network): a proxy left out. Anybody can send such headers, so a
   * public address is never proposed to be trusted.
   */
  suspectedProxy(): string | undefined;
}

/** How many socket addresses are kept parsed: proxies and steady clients come again and again. */
const PARSED_PEERS = 1_000;

const UNKNOWN: ClientAddress = { ip: "0.0.0.0", network: "0.0.0.0" };

export function createClientAddresses(ctx: Pick<AppContext, "config" | "log">): ClientAddresses {
  const trusted = ctx.config.trustedProxies;
  const parsedPeers = new LRUCache<string, ClientAddress>({ max: PARSED_PEERS });
  const suspicions = new LRUCache<string, number>({ max: PARSED_PEERS });
  let suspect: string | undefined;

  function isTrusted(address: ClientAddress): boolean {
    const parsed = ipaddr.parse(address.ip);
    return trusted.some(
      ([network, bits]) => parsed.kind() === network.kind() && parsed.match(network as never, bits),
    );
  }

  function parsePeer(peer: string): ClientAddress {
    let parsed = parsedPeers.get(peer);
    if (!parsed) {
      parsed = parseClientAddress(peer) ?? UNKNOWN;
      parsedPeers.set(peer, parsed);
    }
    return parsed;
  }

  function noteUntrusted(peer: ClientAddress): void {
    if (suspect !== undefined || !standsWhereProxiesDo(peer)) return;
    const seen = (suspicions.get(peer.ip) ?? 0) + 1;
    suspicions.set(peer.ip, seen);
    if (seen < SUSPICION) return;
    suspect = peer.ip;
    ctx.log.warn(
      { peer: peer.ip },
      "requests from this address carry X-Forwarded-For, which is ignored: if it is your reverse proxy, everyone behind it shares one rate limit; name it in ALLCLEAR_TRUSTED_PROXIES",
    );
  }

  return {
    of(peer, headers) {
      const socket = parsePeer(peer);
      const forwarded = headers.get("x-forwarded-for");
      if (trusted.length > 0 && isTrusted(socket)) {
        return forwarded === null ? socket : walkBack(socket, forwarded, isTrusted);
      }
      if (forwarded !== null || headers.has("forwarded")) noteUntrusted(socket);
      return socket;
    },
    suspectedProxy: () => suspect,
  };
}

const PROXY_RANGES = new Set([
  "loopback",
  "private",
  "linkLocal",
  "uniqueLocal",
  "carrierGradeNat",
]);

function standsWhereProxiesDo({ ip }: ClientAddress): boolean {
  return PROXY_RANGES.has(ipaddr.parse(ip).range());
}

/** From the right: each trusted hop vouches for the one on its left. An unreadable hop ends the walk. */
function walkBack(
  socket: ClientAddress,
  forwarded: string,
  isTrusted: (address: ClientAddress) => boolean,
): ClientAddress {
  let client = socket;
  for (const hop of forwarded.split(",").reverse()) {
    const address = parseClientAddress(stripPort(hop.trim()));
    if (!address) return client;
    client = address;
    if (!isTrusted(address)) return client;
  }
  return client;
}

/** Some proxies write `1.2.3.4:5678` and `[2001:db8::1]:5678`. */
function stripPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(hop);
  if (bracketed) return bracketed[1] ?? "";
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}
