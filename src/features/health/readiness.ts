import type { Reader } from "../../db";
import { findDefaultPage } from "../pages";

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
