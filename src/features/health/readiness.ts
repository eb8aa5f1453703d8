import type { Reader } from "../../db";
import { unavailable } from "../../errors";
import { findDefaultPage } from "../pages";

const RETRY_AFTER_SECONDS = 5;

/** Readiness of the server for traffic. */
export interface Readiness {
  isDraining: boolean;
  /** Returns the fields that answers of a node of a fleet have in addition; undefined on one machine. */
  nodeFields?: () => object;
  /** Reads a row. Throws when the database cannot be read. */
  probe(reader: Reader): void;
}

export function createReadiness(): Readiness {
  return {
    isDraining: false,
    probe: (reader) => void findDefaultPage(reader, {}),
  };
}

/** Throws `unavailable` while the server shuts down or cannot read its database. */
export function requireReady(readiness: Readiness, reader: Reader): void {
  if (readiness.isDraining) {
    throw unavailable("The server is shutting down.", RETRY_AFTER_SECONDS);
  }
  readiness.probe(reader);
}
