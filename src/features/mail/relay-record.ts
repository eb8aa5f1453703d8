import type { Reader, Tx } from "../../db/statements";
import { deleteSetting, findSetting, putSetting } from "../settings/store";

/** Setting with the last known state of the relay, which other processes read too. */
const RELAY_STATE = "mail_relay_state";

/** State of the relay as the sender last saw it. Unknown until the first mail after a start or a change of the settings. */
export interface RelayRecord {
  isAvailable: boolean;
  /** Start of this state (unix ms). */
  since: number;
  /** Last reply while it is unavailable. */
  reply: string | null;
  /** Time of the next try while it is unavailable (unix ms). */
  nextTryAt: number | null;
}

/** Returns the last known state of the relay; undefined if it is not known. */
export function findRelayRecord(reader: Reader): RelayRecord | undefined {
  return findSetting(reader, { name: RELAY_STATE })?.value as RelayRecord | undefined;
}

/** Stores the state of the relay; undefined if it is not known any more. */
export function storeRelayRecord(tx: Tx, record: RelayRecord | undefined, now: number): void {
  if (record) putSetting(tx, { name: RELAY_STATE, value: record, now });
  else deleteSetting(tx, { name: RELAY_STATE });
}
