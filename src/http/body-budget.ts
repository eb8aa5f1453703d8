import { type ClientAddress, siteOf } from "../base/client-address";
import type { Clock } from "../base/clock";
import { Problem, unavailable } from "../base/errors";
import { BODY_MAX_BYTES, type BodyLimits, isChunked, RUNTIME_BODY_MAX_BYTES } from "./body";
import type { RequestContext } from "./request-context";

const MEBIBYTE = 1024 * 1024;
const SITE_BYTES = 8 * MEBIBYTE;
const SITE_SMALL_BYTES = 4 * MEBIBYTE;
const ANONYMOUS_BYTES = 2 * MEBIBYTE;
const ANONYMOUS_SMALL_BYTES = MEBIBYTE;
const ALL_SITES_BYTES = 128 * MEBIBYTE;

/** Part of `ALL_SITES_BYTES` for bodies without credentials. */
const ALL_ANONYMOUS_BYTES = 32 * MEBIBYTE;

/** Largest declared size of a small body. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Least bytes of a body, since its request takes memory too. */
const MIN_COUNTED_BYTES = 4 * 1024;

/** Milliseconds that any body may take, however small it is. */
const BASE_MS = { anonymous: 10_000, identified: 30_000 };

/** Milliseconds after which the beginning of a body is taken as far as it has arrived. */
const BEGINNING_MS = 10_000;

/** Additional milliseconds per byte: 16 KiB a second. */
const MS_PER_BYTE = 1_000 / (16 * 1024);

/** Bounds the memory of request bodies that are under way. */
export interface BodyBudget {
  /**
   * Reserves room for the body of a request and limits its time. Returns a Problem if the site of the
   * client, or all sites together, have no room left.
   */
  reserve(context: RequestContext, body: BodyLimits): Problem | undefined;
}

/**
 * Per site (IPv4 address or IPv6 /48): 8 MiB of bodies with credentials and 2 MiB without, so that
 * neither keep the other out. Small bodies have room of their own, 4 MiB and 1 MiB: a form passes while
 * large or unbounded bodies are under way. All sites together: 128 MiB of bodies that are not small,
 * of which those without credentials may have 32 MiB.
 */
export function createBodyBudget(clock: Clock): BodyBudget {
  const identified = { small: createRoom(SITE_SMALL_BYTES), large: createRoom(SITE_BYTES) };
  const anonymous = {
    small: createRoom(ANONYMOUS_SMALL_BYTES),
    large: createRoom(ANONYMOUS_BYTES),
  };

  /** Returns a function that gives the room back, and may be called again; undefined without room. */
  function reserveRoom(address: ClientAddress, bytes: number, isAnonymous: boolean) {
    const { small, large } = isAnonymous ? anonymous : identified;
    if (bytes <= SMALL_BODY_BYTES) return small.reserve(siteOf(address), bytes);
    const total = identified.large.bytes + anonymous.large.bytes + bytes;
    if (total > ALL_SITES_BYTES) return undefined;
    if (isAnonymous && large.bytes + bytes > ALL_ANONYMOUS_BYTES) return undefined;
    return large.reserve(siteOf(address), bytes);
  }

  return {
    reserve(context, body) {
      const { request, caller } = context;
      const bytes = countedBytes(request.headers, body);
      if (bytes === 0) return undefined;
      const isAnonymous = caller.kind === "address";
      const release = reserveRoom(context.address, bytes, isAnonymous);
      // A provider unsubscribes people from few addresses, and repeats a request only after a 503.
      if (!release) return caller.kind === "link" ? overloaded() : tooManyBodies();
      const ms = allowedMs(bytes, body, isAnonymous);
      const startDeadline = (expire: () => void) => clock.after(ms, expire);
      context.body = { isUnread: false, release, startDeadline };
      return undefined;
    },
  };
}

/** Counts bytes under way, at most `siteBytes` per site. */
function createRoom(siteBytes: number) {
  // Sites without bytes have no entry.
  const bySite = new Map<string, number>();
  const room = {
    /** Bytes of all sites. */
    bytes: 0,
    /** Returns undefined without room. Throws for a number that cannot be counted, such as NaN. */
    reserve(site: string, bytes: number): (() => void) | undefined {
      if (!Number.isFinite(bytes) || bytes <= 0)
        throw new Error(`a body cannot have the length ${bytes}`);
      if ((bySite.get(site) ?? 0) + bytes > siteBytes) return undefined;
      add(site, bytes);
      let isReserved = true;
      return () => {
        if (isReserved) add(site, -bytes);
        isReserved = false;
      };
    },
  };

  function add(site: string, bytes: number): void {
    const left = (bySite.get(site) ?? 0) + bytes;
    if (left > 0) bySite.set(site, left);
    else bySite.delete(site);
    room.bytes += bytes;
  }

  return room;
}

/**
 * Returns the bytes for which room is reserved; 0 without a body. Without a declared length, a body counts
 * as the most that the runtime reads of one. A body that is read only in part is small.
 */
function countedBytes(headers: Headers, { beginningBytes }: BodyLimits): number {
  const max = beginningBytes === undefined ? RUNTIME_BODY_MAX_BYTES : SMALL_BODY_BYTES;
  if (isChunked(headers)) return max;
  const length = Number(headers.get("content-length") ?? 0);
  return length === 0 ? 0 : Math.min(max, Math.max(length, MIN_COUNTED_BYTES));
}

/** Returns the milliseconds that a body with `bytes` of reserved room may take. */
function allowedMs(bytes: number, body: BodyLimits, isAnonymous: boolean): number {
  if (body.beginningBytes !== undefined) return BEGINNING_MS;
  const maxBytes = Math.min(bytes, body.maxBytes ?? BODY_MAX_BYTES);
  return (isAnonymous ? BASE_MS.anonymous : BASE_MS.identified) + Math.ceil(maxBytes * MS_PER_BYTE);
}

function tooManyBodies(): Problem {
  return new Problem(
    "rate_limited",
    "The server is receiving too many request bodies. Try again in 1 second.",
    { headers: { "Retry-After": "1" } },
  );
}

function overloaded(): Problem {
  return unavailable("The server is receiving too many request bodies; try again.", 1);
}
