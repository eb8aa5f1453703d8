import type { Alarm } from "../../src/features/alarms/alarms";
import { type AlarmKind, ALARMS } from "../../src/features/alarms/kinds";
import type { Fleet } from "../../src/features/alarms/fleet";
import { IMPACT_TONES } from "../../src/base/status";

/** A fleet whose parts and alarms a test sets. */
export interface TestFleet extends Fleet {
  /** Alarms that hold, in the order in which they are listed. */
  raised: Alarm[];
}

/** Creates a fleet without parts and alarms. */
export function createTestFleet(): TestFleet {
  const fleet: TestFleet = {
    raised: [],
    alarms: { raise() {}, clear() {}, list: () => fleet.raised, async stop() {} },
  };
  return fleet;
}

/** Returns an alarm of a kind since a time in unix ms. */
export function alarmOf(kind: AlarmKind, detail: string, since: number): Alarm {
  const { name, severity } = ALARMS[kind];
  return { kind, name, tone: IMPACT_TONES[severity], detail, since };
}
