/* Tokens of locations in memory, by which the gateway finds the location of an agent without reading the database. */
import { sha256Hex } from "../../base/hash";
import type { Ctx } from "../../context";
import { findLocationToken, listLocationTokens } from "./store";

/** Shape of a token: those that Allclear makes, and those of a file. */
const SHAPE = /^[0-9A-Za-z_-]{32,128}$/;

/** Tokens of all locations that are not deleted, by their hashes. Unknown tokens are not cached. */
export interface LocationDirectory {
  /** Returns the id of the location of a token that counts at `now` (unix ms); undefined for any other. */
  find(token: string, now: number): string | undefined;
}

/** Location of a token, and the time from which the token no longer counts; null without an end. */
interface TokenOwner {
  locationId: string;
  endsAt: number | null;
}

/**
 * Creates the directory. It reads the tokens at the first look-up, and again at the first one after locations changed,
 * here or in another process. An unknown token is looked up in the database if another process has written since.
 * `find` throws while they cannot be read.
 */
export function createLocationDirectory(ctx: Ctx): LocationDirectory {
  let read: { owners: ReadonlyMap<string, TokenOwner>; foreignVersion: number } | undefined;
  ctx.signals.locationsChanged.on(() => {
    read = undefined;
  });

  function ownersNow(): NonNullable<typeof read> {
    if (read) return read;
    const foreignVersion = ctx.db.foreignVersion();
    const rows = listLocationTokens(ctx.db, {});
    const owners = new Map(rows.map((row) => [row.hash.toString("hex"), row]));
    return (read = { owners, foreignVersion });
  }

  function findOwner(hash: string): TokenOwner | undefined {
    const { owners, foreignVersion } = ownersNow();
    const owner = owners.get(hash);
    if (owner || ctx.db.foreignVersion() === foreignVersion) return owner;
    // One row by its index, so that guessing never makes this process read all tokens.
    if (!findLocationToken(ctx.db, { hash: Buffer.from(hash, "hex") })) return undefined;
    read = undefined;
    return ownersNow().owners.get(hash);
  }

  return {
    find(token, now) {
      const owner = SHAPE.test(token) ? findOwner(sha256Hex(token)) : undefined;
      if (!owner) return undefined;
      return owner.endsAt === null || owner.endsAt > now ? owner.locationId : undefined;
    },
  };
}
