import { LRUCache } from "lru-cache";
import type { AppContext } from "../../context";
import { type ClientAddress, parseClientAddress } from "../../kernel/client-address";
import { MINUTE_MS } from "../../kernel/time";
import { lazy } from "../../kernel/lazy";
import { listRecentAddresses } from "./store";

const REMEMBERED = 1_000;
const REFRESH_INTERVAL_MS = MINUTE_MS;

/** The networks from which users have signed in, in memory only. */
export interface KnownSources {
  has(address: ClientAddress): boolean;
  add(address: ClientAddress): void;
}

/**
 * Remembers at most 1,000 networks. They are read from the sessions that there are, at most once a
 * minute, so a restart forgets only the networks whose sessions have ended.
 */
export function createKnownSources({ clock, db }: Pick<AppContext, "clock" | "db">): KnownSources {
  const networks = lazy(() => new LRUCache<string, true>({ max: REMEMBERED }));
  let readAt = Number.NEGATIVE_INFINITY;

  function refresh(): void {
    const now = clock.monotonic();
    if (now - readAt < REFRESH_INTERVAL_MS) return;
    readAt = now;
    for (const { ip } of listRecentAddresses(db, { limit: REMEMBERED }).reverse()) {
      const address = parseClientAddress(ip);
      if (address) networks().set(address.network, true);
    }
  }

  return {
    has({ network }) {
      refresh();
      return networks().has(network);
    },
    add({ network }) {
      networks().set(network, true);
    },
  };
}
