/* Tokens of locations in memory, by which the gateway finds the location of an agent without reading the database. */
import { sha256Hex } from "../../base/hash";
import type { Ctx } from "../../context";
import { createTokenDirectory } from "../../db/token-directory";
import { findLocationToken, listLocationTokens } from "./store";

/** Shape of a token: those that Allclear makes, and those of a file. */
const SHAPE = /^[0-9A-Za-z_-]{32,128}$/;

/** Tokens of all locations that are not deleted. */
export interface LocationDirectory {
  /** Returns the id of the location of a token that counts at `now` (unix ms); undefined for any other. */
  find(token: string, now: number): string | undefined;
}

/** Creates the directory. `find` throws while the tokens cannot be read. */
export function createLocationDirectory(ctx: Ctx): LocationDirectory {
  const findOwner = createTokenDirectory(ctx.db, ctx.signals.locationsChanged, {
    list: () => listLocationTokens(ctx.db, {}),
    ownerOf: ({ locationId, endsAt }) => ({ locationId, endsAt }),
    isStored: (hash) => findLocationToken(ctx.db, { hash }) !== undefined,
  });
  return {
    find(token, now) {
      const owner = SHAPE.test(token) ? findOwner(sha256Hex(token)) : undefined;
      if (!owner) return undefined;
      return owner.endsAt === null || owner.endsAt > now ? owner.locationId : undefined;
    },
  };
}
