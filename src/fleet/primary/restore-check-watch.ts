import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { HOUR_MS, MINUTE_MS, toIso } from "../../base/time";
import type { ObjectStore } from "../../object-store/model";
import { readRestoreCheck, type RestoreCheck } from "../commands/restore-check";

/** Interval at which the last result is read, and time after the start in which the replicas have reported. */
const LOOK_MS = 10 * MINUTE_MS;
const FIRST_MS = MINUTE_MS;
/** Age from which the last result is too old. */
const OLD_MS = 26 * HOUR_MS;

interface Watch {
  clock: Clock;
  log: Log;
  store: ObjectStore;
  alarms: {
    raise(kind: "restore_test", detail: string): void;
    clear(kind: "restore_test"): void;
  };
  /** True if a node may check. */
  hasEligible(): boolean;
}

/** Raises an alarm on the primary if the last check failed or is older than 26 hours. */
export function watchRestoreCheck({ clock, log, store, alarms, hasEligible }: Watch): Timer {
  /** Time since which a node may check; undefined while none may. */
  let eligibleSince: number | undefined;

  async function look(): Promise<void> {
    try {
      updateAlarm(await readRestoreCheck(store));
    } catch (error) {
      // Other alarms are about a store that does not answer.
      log.debug({ err: error }, "the result of the nightly restore could not be read");
    }
  }

  function updateAlarm(last: RestoreCheck | undefined): void {
    const now = clock.now();
    eligibleSince = hasEligible() ? (eligibleSince ?? now) : undefined;
    if (last && last.error !== null) {
      alarms.raise("restore_test", `${toIso(last.at)}: ${last.error}`);
      return;
    }
    if (eligibleSince === undefined || now - (last?.at ?? eligibleSince) <= OLD_MS) {
      alarms.clear("restore_test");
      return;
    }
    const success = last && `The last restore that worked was at ${toIso(last.at)}.`;
    alarms.raise("restore_test", success ?? "The log in the fleet store was never restored.");
  }

  // An alarm of an earlier process ends if it is not raised again within 7 minutes.
  const timers = [
    clock.after(FIRST_MS, () => void look()),
    clock.every(LOOK_MS, () => void look()),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}
