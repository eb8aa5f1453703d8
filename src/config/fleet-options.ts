import { parseStoreAddress, type StoreAddress } from "../domain/store-address";
import { option } from "./option";
import { parseOneOf, text } from "./parse";
import { parseCredential } from "./mail-options";

/** Ways in which a replica becomes the primary: by a person, or by itself. */
export const FAILOVER_MODES = ["manual", "automatic"] as const;

/** Time at which a write is acknowledged: after its upload to the store, or when it is on the disk. */
export const ACKNOWLEDGEMENTS = ["replicated", "local"] as const;

/** Options for more than one machine. Nothing of it is loaded without --fleet-store. */
export const FLEET_OPTIONS = {
  fleetStore: option<StoreAddress>({
    flag: "fleet-store",
    env: "ALLCLEAR_FLEET_STORE",
    parse: parseStoreAddress,
    default: undefined,
    placeholder: "URL",
    help: "Store for the log of the database: s3://bucket/path?endpoint=…&region=…, or file:///path for backups and manual failover only.",
    scope: "serve",
    isHidden: true,
  }),
  fleetStoreKeyId: option({
    flag: undefined,
    env: "ALLCLEAR_FLEET_STORE_KEY_ID",
    fileEnv: "ALLCLEAR_FLEET_STORE_KEY_ID_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "ID",
    help: "Access key id for the store, or a file that contains it.",
    scope: "serve",
  }),
  fleetStoreSecret: option({
    flag: undefined,
    env: "ALLCLEAR_FLEET_STORE_SECRET",
    fileEnv: "ALLCLEAR_FLEET_STORE_SECRET_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "SECRET",
    help: "Secret access key for the store, or a file that contains it.",
    scope: "serve",
  }),
  failover: option<(typeof FAILOVER_MODES)[number]>({
    flag: "failover",
    env: "ALLCLEAR_FAILOVER",
    parse: parseOneOf(FAILOVER_MODES),
    default: "manual",
    placeholder: "MODE",
    help: "manual: a person promotes a replica; automatic: eligible replicas take over by themselves. Equal on all nodes.",
    scope: "serve",
  }),
  ack: option<(typeof ACKNOWLEDGEMENTS)[number]>({
    flag: "ack",
    env: "ALLCLEAR_ACK",
    parse: parseOneOf(ACKNOWLEDGEMENTS),
    default: "replicated",
    placeholder: "WHEN",
    help: "Acknowledge a write when it is in the store (replicated) or on the disk (local).",
    scope: "serve",
  }),
  litestream: option({
    flag: "litestream",
    env: "ALLCLEAR_LITESTREAM",
    parse: text,
    default: "litestream",
    placeholder: "PATH",
    help: "Litestream 0.5.18 or a later 0.5, which a node of a fleet starts.",
    scope: "serve",
  }),
} as const;

/** Options with which a command reads the store. */
export const FLEET_STORE_OPTION_NAMES = [
  "fleetStore",
  "fleetStoreKeyId",
  "fleetStoreSecret",
  "litestream",
] as const;

export type FleetOptionName = keyof typeof FLEET_OPTIONS;

/** Returns the contradictions between options as sentences. */
export function fleetProblems(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: FleetOptionName) => boolean,
  nameOf: (name: FleetOptionName) => string,
): string[] {
  const store = values["fleetStore"] as StoreAddress | undefined;
  if (!isGiven("fleetStore")) return [];
  const problems: string[] = [];
  if (store?.kind === "s3") {
    for (const name of ["fleetStoreKeyId", "fleetStoreSecret"] as const) {
      if (!isGiven(name)) problems.push(`${nameOf(name)} is required with a bucket.`);
    }
  }
  if (store?.kind === "folder" && values["failover"] === "automatic") {
    problems.push(`${nameOf("failover")} must be manual with a folder as the store.`);
  }
  return problems;
}
