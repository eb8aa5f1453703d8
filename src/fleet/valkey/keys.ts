import { HOUR_MS, SECOND_MS } from "../../base/time";
import type { Ctx, NewerKeyState } from "../../context";
import { findVersion } from "../../events/changes";
import { type Credential, listCredentials } from "../../features/keys/directory";
import { ADD_CHANGES } from "./beats";
import type { Valkey } from "./client";

/** Channel on which nodes hear of changes of keys. */
export const KEYS_CHANNEL = "revoked";

/** Changes of keys that the primary tells the replicas before they apply the transactions. */
export interface KeyChanges {
  /** Revision from which Valkey has all changes; more than it has while some are missing. */
  leastRevision(): number;
  /** Takes the revision of Valkey: what a server that was started again has lost is written again. */
  seen(revision: number): void;
  /** Resolves to true when all changes were sent, to false if they could not be. */
  settled(): Promise<boolean>;
  stop(): void;
}

interface SentChange extends KeyChange {
  /** Unix ms. */
  at: number;
}

/** Sends each revocation, end and changed limit of a key value to Valkey right after its commit. */
export function sendKeyChanges(
  { db, signals, clock }: Ctx,
  valkey: Pick<Valkey, "run" | "send">,
): KeyChanges {
  /** Changes of the last hour, by the hashes of key values. */
  const sent = new Map<string, SentChange>();
  let known = listCredentials(db);
  let revision = 0;
  /** Hashes whose changes Valkey lacks. */
  const missing = new Set<string>();
  let isDue = false;
  let isWriting = false;
  let sending: Promise<void> = Promise.resolve();

  function note(): void {
    const now = clock.now();
    const current = listCredentials(db);
    const version = findVersion(db, { scope: "keys" })?.version ?? 0;
    const changed: string[] = [];
    for (const [hash, before] of known) {
      const state = stateOf(current.get(hash), now);
      if (isEqual(stateOf(before, now), state)) continue;
      sent.set(hash, { ...state, version, at: now });
      changed.push(hash);
    }
    known = current;
    if (changed.length > 0) send(changed);
  }

  function send(hashes: Iterable<string>): void {
    for (const hash of hashes) missing.add(hash);
    isDue = true;
    sending = sending.then(write);
  }

  /** Writes what is missing. If that fails, the beats of this node do not count until it is written. */
  async function write(): Promise<void> {
    if (!isDue) return;
    const hashes = [...missing];
    missing.clear();
    isDue = false;
    isWriting = true;
    const fields = hashes.flatMap((hash) => {
      const change = sent.get(hash);
      return change ? [hash, JSON.stringify({ ...change, at: undefined })] : [];
    });
    const args = [String(KEPT_MS / SECOND_MS), String(revision), KEYS_CHANNEL, ...fields];
    try {
      revision = (await valkey.run(ADD_CHANGES, ["revoked", "rev"], args)) as number;
    } catch {
      for (const hash of hashes) missing.add(hash);
      isDue = true;
    }
    isWriting = false;
  }

  /** Forgets changes that are older than an hour, here and in Valkey. */
  function forget(): void {
    const before = clock.now() - KEPT_MS;
    const old = Array.from(sent).flatMap(([hash, { at }]) => (at < before ? hash : []));
    for (const hash of old) sent.delete(hash);
    if (old.length > 0) valkey.send("HDEL", ["revoked", ...old]).catch(() => {});
  }

  const stop = signals.keysChanged.on(note);
  return {
    leastRevision: () => (isDue || isWriting ? revision + 1 : revision),
    seen(found) {
      forget();
      if (isDue) sending = sending.then(write);
      else if (!isWriting && found < revision) send(sent.keys());
    },
    async settled() {
      await sending;
      return !isDue;
    },
    stop,
  };
}

/** Returns the state of a value. One that is gone ends at `now`. */
function stateOf(credential: Credential | undefined, now: number): Omit<KeyChange, "version"> {
  if (!credential) return { expiresAt: null, revokedAt: null, endsAt: now, rateLimit: 1 };
  const { expiresAt, revokedAt, endsAt, key } = credential;
  return { expiresAt, revokedAt, endsAt, rateLimit: key.rateLimit };
}

function isEqual(a: Omit<KeyChange, "version">, b: Omit<KeyChange, "version">): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Time for which changes of keys are kept in Valkey. */
const KEPT_MS = HOUR_MS;

/** Change of a key value, as it is stored in Valkey. */
interface KeyChange extends NewerKeyState {
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
