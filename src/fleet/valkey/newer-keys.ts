import type { NewerKeyState } from "../../context";
import { HOUR_MS } from "../../base/time";

/** Time for which changes of keys are kept in Valkey. */
export const KEPT_MS = HOUR_MS;

/** Change of a key value, as it is stored in Valkey. */
export interface KeyChange extends NewerKeyState {
  /** Version of the keys in the database from which on it has the change. */
  version: number;
}

/** Changes of keys that a replica has read in Valkey, and whose transactions it has not applied yet. */
export interface NewerKeys {
  /** States by the hashes of key values, for the directory of keys. */
  states: ReadonlyMap<string, NewerKeyState>;
  /** Adds changes that were read. */
  add(changes: ReadonlyMap<string, string>): void;
  /** Forgets changes that the database has at a version of the keys. */
  applied(version: number): void;
}

export function createNewerKeys(): NewerKeys {
  const states = new Map<string, KeyChange>();
  let appliedVersion = 0;

  function forget(): void {
    for (const [hash, { version }] of states) if (version <= appliedVersion) states.delete(hash);
  }

  return {
    states,
    add(changes) {
      for (const [hash, text] of changes) states.set(hash, JSON.parse(text) as KeyChange);
      forget();
    },
    applied(version) {
      appliedVersion = version;
      forget();
    },
  };
}
