import type { Config } from "../../base/config/options";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { isUnreadable, type StorageFault, storageFaultOf } from "../../db/errors";
import type { Reader } from "../../db/statements";
import { unavailable } from "../../base/errors";
import { SECOND_MS } from "../../base/time";
import { findDefaultPage } from "../pages/store";

const RETRY_AFTER_SECONDS = 5;

/** Readiness of the server for traffic. */
export interface Readiness {
  isDraining: boolean;
  /** Returns the fields that answers of a node of a fleet have in addition; undefined on one machine. */
  nodeFields?: () => object;
  /** Reads a row. Throws when the database cannot be read. */
  probe(reader: Reader): void;
  /** True if there are pages in memory, which are served also while the database cannot be read. */
  hasPages(): boolean;
}

export function createReadiness(): Readiness {
  return {
    isDraining: false,
    probe: (reader) => void findDefaultPage(reader, {}),
    hasPages: () => false,
  };
}

/**
 * Says from now on that the server is not ready, and resolves after the setting `drainSeconds`. Until then requests are
 * answered, so that load balancers notice before connections are refused.
 */
export function drain(
  { clock, config, log }: { clock: Clock; config: Config; log: Log },
  readiness: Readiness,
): Promise<void> {
  readiness.isDraining = true;
  const { drainSeconds: seconds } = config;
  if (seconds === 0) return Promise.resolve();
  log.info({ seconds }, "draining: not ready any more, and still answering");
  return new Promise((resolve) => void clock.after(seconds * SECOND_MS, resolve));
}

/** Throws `unavailable` while the server shuts down or cannot read its database. */
export function requireReady(readiness: Readiness, reader: Reader): void {
  requireRunning(readiness);
  readiness.probe(reader);
}

/**
 * Throws `unavailable` while the server shuts down, or can serve no page. Returns the reason for which it serves only
 * pages in memory; undefined if it can read its database.
 */
export function requirePages(readiness: Readiness, reader: Reader): StorageFault | undefined {
  requireRunning(readiness);
  try {
    readiness.probe(reader);
  } catch (error) {
    if (isUnreadable(error) && readiness.hasPages()) return storageFaultOf(error);
    throw error;
  }
  return undefined;
}

function requireRunning({ isDraining }: Readiness): void {
  if (isDraining) throw unavailable("The server is shutting down.", RETRY_AFTER_SECONDS);
}
