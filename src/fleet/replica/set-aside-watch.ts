import type { Reader } from "../../db/statements";
import type { DataDirectory } from "../../db/data-directory";
import { countOrphans, listSetAside } from "../../db/orphans";
import { readUndismissed } from "../../features/alarms/fleet";
import type { MetricFamily } from "../../features/metrics/metrics";
import type { Clock, Timer } from "../../base/clock";
import { sum } from "../../base/numbers";
import type { Log } from "../../base/log";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import { fleetFamily } from "../metric-families";
import { type NodeReport, SET_ASIDE_MAX } from "../primary/node-report";

/** Interval at which the data directory is looked through. */
const LOOK_MS = 10 * MINUTE_MS;
/** Interval at which dismissals are read while there are orphans. */
const DISMISSALS_MS = 5 * SECOND_MS;
/** Pause until the database of a replica that has just started can be read. */
const FIRST_MS = MINUTE_MS / 6;

/** Databases of earlier terms in a data directory. */
export interface SetAsideWatch extends Timer {
  list(): NodeReport["setAside"];
  /** Returns the number of missing events that were not dismissed. */
  undismissed(): number;
}

/** Returns the metric of the missing events that were not dismissed. */
export function orphansFamily({ undismissed }: Pick<SetAsideWatch, "undismissed">): MetricFamily {
  return fleetFamily(
    "gauge",
    "orphans",
    "Events of databases of earlier terms on this node that the present history lacks and no owner has dismissed.",
    undismissed,
  );
}

/**
 * Counts the events of databases that were set aside which the present history lacks, ten seconds after the start
 * and every ten minutes. `read` runs a function that reads the present database.
 */
export function watchSetAside(
  {
    clock,
    log,
    directory,
    node,
  }: {
    clock: Clock;
    log: Log;
    directory: Pick<DataDirectory, "database">;
    /** Name of this node. */
    node: string;
  },
  read: <T>(work: (reader: Reader) => T) => T | Promise<T>,
): SetAsideWatch {
  let found: NodeReport["setAside"] = [];
  let undismissed = 0;

  /** Reads which events were dismissed, on any node. */
  async function readDismissals(): Promise<void> {
    try {
      const all = found.map((one) => ({ node, ...one }));
      const open =
        all.length === 0 ? [] : await read((reader) => all.filter(readUndismissed(reader)));
      undismissed = sum(open.map(({ events }) => events));
    } catch (error) {
      log.debug({ err: error }, "dismissed events of earlier terms could not be read");
    }
  }

  async function look(): Promise<void> {
    try {
      const files = listSetAside(directory).slice(0, SET_ASIDE_MAX);
      if (files.length === 0) found = [];
      else {
        found = await read((reader) =>
          files.map((file) => ({ file, events: countOrphans(file, reader) })),
        );
      }
    } catch (error) {
      log.debug({ err: error }, "databases of earlier terms could not be compared");
    }
    await readDismissals();
  }

  const timers = [
    clock.after(FIRST_MS, () => void look()),
    clock.every(LOOK_MS, () => void look()),
    clock.every(DISMISSALS_MS, () => void readDismissals()),
  ];
  return {
    list: () => found,
    undismissed: () => undismissed,
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}
