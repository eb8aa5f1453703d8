import { litestreamPath } from "../../test/support/fleet/litestream";
import { FLEET_SECRET } from "../../test/support/fleet/nodes";
import type { S3Server } from "../../test/support/fleet/s3";

/** Returns the settings of a node of a fleet, except those of Valkey. */
export async function fleetSettings(store: S3Server): Promise<Record<string, string>> {
  return {
    ALLCLEAR_FLEET_STORE: store.urlOf("bench"),
    ALLCLEAR_FLEET_STORE_KEY_ID: store.credentials.keyId,
    ALLCLEAR_FLEET_STORE_SECRET: store.credentials.secret,
    ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
    ALLCLEAR_LITESTREAM: await litestreamPath(),
  };
}
