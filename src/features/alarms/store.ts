import type { Reader, Tx } from "../../db/statements";
import { deleteSetting, findSetting, putSetting } from "../settings/store";
import { type AlarmKind, isAlarmKind } from "./kinds";

/** Setting with the alarms whose end was not recorded. */
const ALARMS_SETTING = "alarms";

/** Beginning of an alarm, as its event says it. */
export interface StoredAlarm {
  detail: string;
  /** Unix ms. */
  since: number;
}

export type StoredAlarms = ReadonlyMap<AlarmKind, StoredAlarm>;

/** Returns the alarms whose end was not recorded yet. */
export function readStoredAlarms(reader: Reader): StoredAlarms {
  const value = findSetting(reader, { name: ALARMS_SETTING })?.value ?? {};
  const entries = Object.entries(value as Record<string, StoredAlarm>);
  return new Map(
    entries.filter((entry): entry is [AlarmKind, StoredAlarm] => isAlarmKind(entry[0])),
  );
}

export function storeAlarms(tx: Tx, alarms: StoredAlarms, now: number): void {
  if (alarms.size === 0) deleteSetting(tx, { name: ALARMS_SETTING });
  else putSetting(tx, { name: ALARMS_SETTING, value: Object.fromEntries(alarms), now });
}
