/*
 * Keys in memory, by which the gateway finds the key of a request without reading the database.
 */
import { sha256Hex } from "../../base/hash";
import type { Ctx, NewerKeyState } from "../../context";
import type { KeyState } from "./rules";
import { findKeyValue, listKeys, listKeyValues } from "./store";

/** A key with the properties that the gateway needs. */
interface KeyEntry {
  id: string;
  name: string;
  scopes: ReadonlySet<string>;
  rateLimit: number;
}

/** A key value that a caller presented. */
export interface Credential extends KeyState {
  key: KeyEntry;
  /** SHA-256 of the value, in hexadecimal. */
  hash: string;
}

/**
 * All keys in memory, by the hashes of their values. An unknown value is looked up in the database if another process
 * has written since the keys were read, so that a key made by it works at once. Unknown values are not cached.
 */
export interface KeyDirectory {
  find(value: string): Credential | undefined;
}

/**
 * Creates the directory. It reads the keys at the first look-up, and again at the first one after
 * any has changed, here or in another process. Looking up a key throws while they cannot be read.
 */
export function createKeyDirectory(ctx: Ctx): KeyDirectory {
  let credentials: Map<string, Credential> | undefined;
  /** Version of other processes' commits at the time `credentials` was read. */
  let foreignVersion: number | undefined;
  const forget = () => {
    credentials = undefined;
  };
  ctx.signals.keysChanged.on(forget);

  function findStored(hash: string): Credential | undefined {
    const cached = credentials?.get(hash);
    if (cached) return cached;
    const current = ctx.db.foreignVersion();
    if (credentials && current === foreignVersion) return undefined;
    // One row by its index, so that guessing never makes this process read all keys.
    if (credentials && !findKeyValue(ctx.db, { hash: Buffer.from(hash, "hex") })) return undefined;
    credentials = listCredentials(ctx.db);
    foreignVersion = current;
    return credentials.get(hash);
  }

  return {
    find(value) {
      const stored = findStored(sha256Hex(value));
      const newer = stored && ctx.newerKeys?.get(stored.hash);
      return newer ? withNewer(stored, newer) : stored;
    },
  };
}

/**
 * Adds a state that was told before its transaction is applied. It brings no value back that the database ends: it may
 * be of a primary whose last transactions are in no history.
 */
function withNewer(stored: Credential, newer: NewerKeyState): Credential {
  return {
    ...stored,
    key: { ...stored.key, rateLimit: newer.rateLimit },
    expiresAt: earliest(stored.expiresAt, newer.expiresAt),
    revokedAt: earliest(stored.revokedAt, newer.revokedAt),
    endsAt: earliest(stored.endsAt, newer.endsAt),
  };
}

/** Returns the first of two times; null means never. */
function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** Reads all key values with their keys, by the hashes of the values. */
export function listCredentials(db: Ctx["db"]): Map<string, Credential> {
  const rows = new Map(listKeys(db, {}).map((row) => [row.id, row]));
  const cached = new Map<string, KeyEntry>();
  const credentials = new Map<string, Credential>();
  for (const value of listKeyValues(db, {})) {
    const row = rows.get(value.keyId);
    if (!row) continue;
    const key = cached.get(row.id) ?? {
      id: row.id,
      name: row.name,
      scopes: new Set(row.scopes),
      rateLimit: row.rateLimit,
    };
    cached.set(row.id, key);
    const hash = value.hash.toString("hex");
    const { expiresAt, revokedAt } = row;
    credentials.set(hash, { key, hash, expiresAt, revokedAt, endsAt: value.endsAt });
  }
  return credentials;
}
