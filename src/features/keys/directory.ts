import type { AppContext } from "../../context";
import { sha256Hex } from "../../kernel/hash";
import type { KeyState } from "./rules";
import { listKeys, listKeyValues } from "./store";

/** A key as the front door knows it. */
export interface KnownKey {
  id: string;
  name: string;
  scopes: ReadonlySet<string>;
  rateLimit: number;
}

/** One value of a key, found by what a caller presented. */
export interface Credential extends KeyState {
  key: KnownKey;
  /** SHA-256 of the value, in hexadecimal. */
  hash: string;
}

/**
 * Every key of the installation in memory, by the hash of its values: the front door looks here and
 * never in the database. There is no record of unknown values.
 */
export interface KeyDirectory {
  find(value: string): Credential | undefined;
}

/** Reads the keys now, and again whenever one has changed, here or in another process. */
export function createKeyDirectory(ctx: Pick<AppContext, "db" | "signals">): KeyDirectory {
  let credentials = readCredentials(ctx.db);
  const reload = () => {
    credentials = readCredentials(ctx.db);
  };
  ctx.signals.keysChanged.on(reload);
  ctx.signals.databaseChangedElsewhere.on(reload);
  return {
    find: (value) => credentials.get(sha256Hex(value)),
  };
}

function readCredentials(db: AppContext["db"]): Map<string, Credential> {
  const rows = new Map(listKeys(db, {}).map((row) => [row.id, row]));
  const known = new Map<string, KnownKey>();
  const credentials = new Map<string, Credential>();
  for (const value of listKeyValues(db, {})) {
    const row = rows.get(value.keyId);
    if (!row) continue;
    const key = known.get(row.id) ?? {
      id: row.id,
      name: row.name,
      scopes: new Set(row.scopes),
      rateLimit: row.rateLimit,
    };
    known.set(row.id, key);
    const hash = value.hash.toString("hex");
    const { expiresAt, revokedAt } = row;
    credentials.set(hash, { key, hash, expiresAt, revokedAt, endsAt: value.endsAt });
  }
  return credentials;
}
