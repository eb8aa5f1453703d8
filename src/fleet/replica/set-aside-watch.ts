import type { Reader } from "../../db";
import type { DataDirectory } from "../../db/data-directory";
import { countOrphans, listSetAside } from "../../db/orphans";
import type { Clock, Timer } from "../../kernel/clock";
import type { Log } from "../../kernel/log";
import { MINUTE_MS } from "../../kernel/time";
import { type NodeReport, SET_ASIDE_MAX } from "../primary/node-registry";

/** Interval at which the data directory is looked through. */
const LOOK_MS = 10 * MINUTE_MS;
/** Pause until the database of a replica that has just started can be read. */
const FIRST_MS = MINUTE_MS / 6;

/** Databases of earlier terms in a data directory. */
export interface SetAsideWatch extends Timer {
  list(): NodeReport["setAside"];
}

/**
 * Counts the events of databases that were set aside which the present history lacks, ten seconds after the start
 * and every ten minutes. `read` runs a function that reads the present database.
 */
export function watchSetAside(
  { clock, log, directory }: { clock: Clock; log: Log; directory: Pick<DataDirectory, "database"> },
  read: <T>(work: (reader: Reader) => T) => T | Promise<T>,
): SetAsideWatch {
  let found: NodeReport["setAside"] = [];

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
  }

  const timers = [
    clock.after(FIRST_MS, () => void look()),
    clock.every(LOOK_MS, () => void look()),
  ];
  return {
    list: () => found,
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}
