import { type ClientAddress, siteOf } from "../kernel/client-address";
import { isChunked, RUNTIME_BODY_MAX_BYTES } from "./body";

const MEBIBYTE = 1024 * 1024;
const ONE_SITE_BYTES = 8 * MEBIBYTE;
/** The part of it for callers without a live key or session, so that they never keep others out. */
const STRANGERS_BYTES = 2 * MEBIBYTE;
const ALL_SITES_BYTES = 128 * MEBIBYTE;
/** A body of at most this declared size needs no part of what all sites share. */
const SMALL_BODY_BYTES = 64 * 1024;
/** The least that a body under way counts, since its request takes memory too. */
const LEAST_BYTES = 4 * 1024;

/** Bounds the memory of request bodies that are under way. */
export interface BodyBudget {
  /**
   * Reserves room for the body that a request's headers announce. Returns what gives the room back, and
   * may be called again without effect; undefined where the site or all sites together have none left.
   * `isStranger`: the caller has shown no credential.
   */
  reserve(address: ClientAddress, headers: Headers, isStranger: boolean): (() => void) | undefined;
}

/**
 * A site (an IPv4 address or an IPv6 /48) may have 8 MiB of bodies under way, without credentials
 * up to 2 MiB; all sites together 128 MiB. A body without a declared length counts as the most that the
 * runtime keeps of one, so a site has eight of them at a time, strangers two. Small bodies are taken while other sites fill the common room.
 */
export function createBodyBudget(): BodyBudget {
  /** Bytes under way, by site; a site without any has no entry. */
  const bySite = new Map<string, number>();
  let ofAllSites = 0;

  function add(site: string, bytes: number): void {
    const left = (bySite.get(site) ?? 0) + bytes;
    if (left > 0) bySite.set(site, left);
    else bySite.delete(site);
    ofAllSites += bytes;
  }

  return {
    reserve(address, headers, isStranger) {
      const bytes = announcedBytes(headers);
      if (bytes === 0) return () => {};
      const site = siteOf(address);
      const most = isStranger ? STRANGERS_BYTES : ONE_SITE_BYTES;
      if ((bySite.get(site) ?? 0) + bytes > most) return undefined;
      if (bytes > SMALL_BODY_BYTES && ofAllSites + bytes > ALL_SITES_BYTES) return undefined;
      add(site, bytes);
      let isReserved = true;
      return () => {
        if (isReserved) add(site, -bytes);
        isReserved = false;
      };
    },
  };
}

function announcedBytes(headers: Headers): number {
  if (isChunked(headers)) return RUNTIME_BODY_MAX_BYTES;
  const length = Number(headers.get("content-length") ?? 0);
  return length === 0 ? 0 : Math.max(length, LEAST_BYTES);
}
