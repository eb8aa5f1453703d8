import type { Signal } from "../base/signal";
import type { Db } from "./database";

/**
 * Creates the look-up of the owners of tokens by their hashes (hexadecimal) in memory. It reads all tokens at the first
 * look-up, and again at the first one after a signal, which another process raises too. An unknown token is looked up in
 * the database if another process has written since; it is not cached. Throws while the tokens cannot be read.
 */
export function createTokenDirectory<Row extends { hash: Buffer }, Owner>(
  db: Pick<Db, "foreignVersion">,
  changed: Pick<Signal<void>, "on">,
  tokens: {
    list(): readonly Row[];
    ownerOf(row: Row): Owner;
    /** Reads one row by its index, so that guessing never makes this process read all tokens. */
    isStored(hash: Buffer): boolean;
  },
): (hash: string) => Owner | undefined {
  let read: { owners: ReadonlyMap<string, Owner>; foreignVersion: number } | undefined;
  changed.on(() => {
    read = undefined;
  });

  function current(): NonNullable<typeof read> {
    if (read) return read;
    const foreignVersion = db.foreignVersion();
    const rows = tokens.list();
    const owners = new Map(rows.map((row) => [row.hash.toString("hex"), tokens.ownerOf(row)]));
    return (read = { owners, foreignVersion });
  }

  return (hash) => {
    const { owners, foreignVersion } = current();
    const owner = owners.get(hash);
    if (owner || db.foreignVersion() === foreignVersion) return owner;
    if (!tokens.isStored(Buffer.from(hash, "hex"))) return undefined;
    read = undefined;
    return current().owners.get(hash);
  };
}
