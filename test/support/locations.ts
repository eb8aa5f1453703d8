import { CLI_ACTOR } from "../../src/base/actor";
import type { ApplyMetadata } from "../../src/base/ids";
import { validate } from "../../src/base/validation";
import type { Ctx } from "../../src/context";
import { createLocation, type RevealedLocation } from "../../src/features/locations/locations";
import { LocationInput } from "../../src/features/locations/wire";

/** Creates a location with a token. */
export function addLocation(
  { ctx }: { ctx: Ctx },
  name: string,
  metadata: ApplyMetadata = {},
): Promise<RevealedLocation> {
  return ctx.db.write((tx) =>
    createLocation(ctx, tx, validate(LocationInput, { name }), CLI_ACTOR, metadata),
  );
}
