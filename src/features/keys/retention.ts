import type { Tx } from "../../db";
import { DAY_MS, startOfDay } from "../../kernel/time";
import {
  addHoursToDays,
  blankAddressesOfKey,
  deleteHoursBefore,
  deleteHoursOfDays,
  listKeyIdsAfter,
} from "./retention-store";

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
