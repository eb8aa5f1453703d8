import type { AppContext } from "../../context";
import type { ClientAddress } from "../../kernel/client-address";
import type { Timer } from "../../kernel/clock";
import { HOUR_MS, SECOND_MS, DAY_MS, startOfDay } from "../../kernel/time";
import type { Tx } from "../../db";
import type { Credential } from "./directory";
import type { LastUse } from "./model";
import { addToHour, touchKeyValue } from "./store";
import {
  addHoursToDays,
  blankAddressesOfKey,
  deleteHoursBefore,
  deleteHoursOfDays,
  listKeyIdsAfter,
} from "./retention-store";

const FLUSH_INTERVAL_MS = 5 * SECOND_MS;
/** Asking a socket for its address is a system call, so a busy key is asked for its once a second. */
const IP_FRESH_MS = SECOND_MS;

interface HourCounts {
  hour: number;
  ok: number;
  clientError: number;
  limited: number;
}

/** Uses of one value of a key since the last flush. */
interface Gathered {
  keyId: string;
  lastUse: LastUse;
  /** Time at which the address in `lastUse` was read, in unix ms. */
  ipKnownAt: number;
  /** The present hour's, last. */
  hours: HourCounts[];
}

/** Caller that used a key. Reading the address costs a system call. */
interface KeyUser {
  readonly address: ClientAddress;
}

/**
 * Last Used and the counts per key and hour, gathered in memory and written in batches: at most one
 * write every five seconds, and one at shutdown, never one a request.
 */
export interface KeyUsage {
  /**
   * Counts one answer to a live key, given at `now` in unix ms. 5xx answers are the server's doing and
   * count as nothing. The caller's address is asked for at most once a second for each value of a key.
   */
  record(credential: Credential, status: number, now: number, from: KeyUser): void;
  /** The last use of a key's value, by its hash, that is not written yet. */
  pendingLastUse(hash: string): LastUse | undefined;
  /** Writes what was gathered. Keeps it for the next time when the database refuses. */
  flush(): Promise<void>;
  stop(): void;
}

export function createKeyUsage(ctx: Pick<AppContext, "clock" | "db" | "log">): KeyUsage {
  let byHash = new Map<string, Gathered>();
  /** The batch that is on its way to the database. */
  let written = new Map<string, Gathered>();
  let underWay = Promise.resolve();

  /** One batch at a time, so that one which was refused is kept before the next is made. */
  function flush(): Promise<void> {
    underWay = underWay.then(writeBatch);
    return underWay;
  }

  async function writeBatch(): Promise<void> {
    if (byHash.size === 0) return;
    written = byHash;
    byHash = new Map();
    try {
      await ctx.db.write((tx) => {
        for (const [hash, { keyId, lastUse, hours }] of written) {
          touchKeyValue(tx, { hash: Buffer.from(hash, "hex"), ...lastUse });
          for (const counts of hours) addToHour(tx, { keyId, ...counts });
        }
      });
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

  /** Puts back what could not be written, before what has come since. */
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
        gathered = { keyId: credential.key.id, lastUse, ipKnownAt: now, hours: [] };
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

/** The counts of the hour that a moment lies in. */
function countsAt({ hours }: Gathered, now: number): HourCounts {
  const last = hours[hours.length - 1];
  if (last && now >= last.hour && now < last.hour + HOUR_MS) return last;
  const counts = { hour: now - (now % HOUR_MS), ok: 0, clientError: 0, limited: 0 };
  hours.push(counts);
  return counts;
}

const KEYS_AT_ONCE = 50;
/** For how many days the requests of a key are kept by the day. */
const DAYS_KEPT = 400;

interface KeyRetention {
  /** Unix ms. */
  now: number;
  /** For how many days the requests of a key are kept by the hour, and addresses at all. */
  hoursDays: number;
  addressesDays: number;
}

/**
 * Trims what is kept of the use of keys: hours become one row a day, at its first hour, and old addresses
 * are forgotten. Fifty keys a call, those behind `after`; answers the last of them, undefined at the end.
 */
export function trimKeyUse(tx: Tx, kept: KeyRetention, after: string): string | undefined {
  const { now, hoursDays, addressesDays } = kept;
  const keys = listKeyIdsAfter(tx, { after, limit: KEYS_AT_ONCE });
  for (const { id: keyId } of keys) {
    const before = startOfDay(now - hoursDays * DAY_MS);
    if (addHoursToDays(tx, { keyId, before }) > 0) deleteHoursOfDays(tx, { keyId, before });
    deleteHoursBefore(tx, { keyId, before: startOfDay(now - DAYS_KEPT * DAY_MS) });
    blankAddressesOfKey(tx, { keyId, before: now - addressesDays * DAY_MS });
  }
  return keys.length === KEYS_AT_ONCE ? keys.at(-1)?.id : undefined;
}
