/*
 * Use of keys: gathered in memory, written in batches, merged into days and deleted when it is old.
 */
import type { ClientAddress } from "../../base/client-address";
import type { Timer } from "../../base/clock";
import { DAY_MS, HOUR_MS, SECOND_MS, startOfDay } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { Credential } from "./directory";
import {
  addHoursToDays,
  addToHour,
  blankAddressesOfKey,
  deleteHoursBefore,
  deleteHoursOfDays,
  findFirstUnmerged,
  listKeyIdsAfter,
  touchKeyValue,
} from "./store";
import type { LastUse } from "./wire";

const FLUSH_INTERVAL_MS = 5 * SECOND_MS;
/** Time for which an address is reused, since reading it is a system call. */
const IP_FRESH_MS = SECOND_MS;

export interface HourCounts {
  /** Beginning, in unix ms. */
  hour: number;
  ok: number;
  clientError: number;
  limited: number;
}

/** Uses of one value of a key. */
export interface KeyUse {
  /** SHA-256 of the value, in hexadecimal. */
  hash: string;
  keyId: string;
  lastUse: LastUse;
  /** Counts by hour; the last one is the newest. */
  hours: HourCounts[];
}

/** Uses since the last flush. */
interface Gathered extends KeyUse {
  /** Time at which the address in `lastUse` was read, in unix ms. */
  ipKnownAt: number;
}

/** Writes uses. A last use before the stored one does not replace it. */
export function storeKeyUses(tx: Tx, uses: Iterable<KeyUse>): void {
  for (const { hash, keyId, lastUse, hours } of uses) {
    touchKeyValue(tx, { hash: Buffer.from(hash, "hex"), ...lastUse });
    for (const counts of hours) addToHour(tx, { keyId, ...counts });
  }
}

/** Caller that used a key. Reading the address costs a system call. */
interface KeyUser {
  readonly address: ClientAddress;
}

/**
 * Last use of values and counts per key and hour, gathered in memory and written in batches: at
 * most one write every five seconds, and one at shutdown.
 */
export interface KeyUsage {
  /**
   * Counts one response to a live key at `now` (unix ms). 5xx responses, which are faults of the
   * server, are not counted. The caller's address is read at most once a second per value.
   */
  record(credential: Credential, status: number, now: number, from: KeyUser): void;
  /** Returns the unwritten last use of a key's value, by its hash. */
  pendingLastUse(hash: string): LastUse | undefined;
  /** Writes the gathered uses. They are kept for the next flush if the write fails. */
  flush(): Promise<void>;
  stop(): void;
}

/** Gathers uses, and passes each batch to `store`, which by default writes it into the database. */
export function createKeyUsage(
  ctx: Ctx,
  store: (uses: readonly KeyUse[]) => Promise<void> = (uses) =>
    ctx.db.write((tx) => storeKeyUses(tx, uses)),
): KeyUsage {
  let byHash = new Map<string, Gathered>();
  /** The batch that is being written. */
  let written = new Map<string, Gathered>();
  let underWay = Promise.resolve();

  /** Writes one batch at a time, so that a failed batch is kept before the next one is made. */
  function flush(): Promise<void> {
    underWay = underWay.then(writeBatch);
    return underWay;
  }

  async function writeBatch(): Promise<void> {
    if (byHash.size === 0) return;
    written = byHash;
    byHash = new Map();
    try {
      await store([...written.values()]);
    } catch (error) {
      ctx.log.warn(
        { err: error },
        "the use of keys could not be written; it is kept for the next time",
      );
      keepWritten();
    } finally {
      written = new Map();
    }
  }

  /** Merges a failed batch with the uses since then. */
  function keepWritten(): void {
    for (const [hash, before] of written) {
      const since = byHash.get(hash);
      if (since) since.hours.unshift(...before.hours);
      else byHash.set(hash, before);
    }
  }

  const timer: Timer = ctx.clock.every(FLUSH_INTERVAL_MS, () => void flush());

  return {
    record(credential, status, now, from) {
      let gathered = byHash.get(credential.hash);
      if (!gathered) {
        const lastUse = { at: now, ip: from.address.ip };
        const { hash, key } = credential;
        gathered = { hash, keyId: key.id, lastUse, ipKnownAt: now, hours: [] };
        byHash.set(credential.hash, gathered);
      }
      gathered.lastUse.at = now;
      if (Math.abs(now - gathered.ipKnownAt) >= IP_FRESH_MS) {
        gathered.ipKnownAt = now;
        gathered.lastUse.ip = from.address.ip;
      }
      const counts = countsAt(gathered, now);
      if (status < 400) counts.ok += 1;
      else if (status === 429) counts.limited += 1;
      else if (status < 500) counts.clientError += 1;
    },
    pendingLastUse: (hash) => (byHash.get(hash) ?? written.get(hash))?.lastUse,
    flush,
    stop: () => timer.cancel(),
  };
}

/** Returns the counts of the hour that contains `now`. */
function countsAt({ hours }: Gathered, now: number): HourCounts {
  const last = hours[hours.length - 1];
  if (last && now >= last.hour && now < last.hour + HOUR_MS) return last;
  const counts = { hour: now - (now % HOUR_MS), ok: 0, clientError: 0, limited: 0 };
  hours.push(counts);
  return counts;
}

const KEYS_PER_BATCH = 50;
/** Limit of changed rows per call, exceeded by at most those of `DAYS_AT_ONCE` of one key. */
const ROWS_PER_BATCH = 500;
/** Number of days of one key whose hours are merged at once. */
const DAYS_AT_ONCE = 20;
/** Number of days for which daily counts of requests are kept. */
const DAYS_KEPT = 400;

interface KeyRetention {
  /** Unix ms. */
  now: number;
  /** Number of days for which hourly counts and addresses are kept. */
  hoursDays: number;
  addressesDays: number;
}

/**
 * Trims the usage of up to 50 keys with ids above `after`: old hours are merged into one row per day, at
 * its first hour, and old addresses are removed. Changes about 500 rows at most. Returns the last id that is
 * done, or undefined at the end.
 */
export function trimKeyUse(tx: Tx, kept: KeyRetention, after: string): string | undefined {
  const { now, hoursDays, addressesDays } = kept;
  const keys = listKeyIdsAfter(tx, { after, limit: KEYS_PER_BATCH });
  const mergedUntil = startOfDay(now - hoursDays * DAY_MS);
  let done = after;
  let changed = 0;
  for (const { id: keyId } of keys) {
    if (changed >= ROWS_PER_BATCH) return done;
    changed += deleteHoursBefore(tx, { keyId, before: startOfDay(now - DAYS_KEPT * DAY_MS) });
    const first = findFirstUnmerged(tx, { keyId })?.hour ?? mergedUntil;
    const before = Math.min(mergedUntil, startOfDay(first) + DAYS_AT_ONCE * DAY_MS);
    changed += addHoursToDays(tx, { keyId, before });
    changed += deleteHoursOfDays(tx, { keyId, before });
    if (before < mergedUntil) return done;
    changed += blankAddressesOfKey(tx, { keyId, before: now - addressesDays * DAY_MS });
    done = keyId;
  }
  return keys.length === KEYS_PER_BATCH ? done : undefined;
}
