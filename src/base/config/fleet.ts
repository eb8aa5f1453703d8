import { parseStoreAddress, type StoreAddress } from "../store-address";
import { parseCredential } from "./mail";
import { readCertificates } from "./network";
import { option, parseBaseUrl, parseListen, parseOneOf, text } from "./parse";

/** Ways in which a replica becomes the primary: by a person, or by itself. */
const FAILOVER_MODES = ["manual", "automatic"] as const;

/** Time at which a write is acknowledged: after its upload to the store, or when it is on the disk. */
const ACKNOWLEDGEMENTS = ["replicated", "local"] as const;

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

type FleetOptionName = keyof typeof FLEET_OPTIONS;

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

/** Least length of the secret, in characters. */
const SECRET_MIN = 32;

/** Options by which the nodes of a fleet reach and recognise each other. */
export const NODE_OPTIONS = {
  fleetSecret: option({
    flag: undefined,
    env: "ALLCLEAR_FLEET_SECRET",
    fileEnv: "ALLCLEAR_FLEET_SECRET_FILE",
    parse: parseFleetSecret,
    default: undefined,
    placeholder: "SECRET",
    help: `Secret of at least ${SECRET_MIN} characters by which nodes recognise each other, or a file that contains it. Equal on all nodes.`,
    scope: "serve",
  }),
  fleetListen: option({
    flag: "fleet-listen",
    env: "ALLCLEAR_FLEET_LISTEN",
    parse: parseListen,
    default: undefined,
    placeholder: "HOST:PORT",
    help: "Private address on which this node listens for the others. It must not be reachable from the internet.",
    scope: "serve",
  }),
  fleetAddress: option({
    flag: "fleet-address",
    env: "ALLCLEAR_FLEET_ADDRESS",
    parse: parseBaseUrl,
    default: undefined,
    placeholder: "URL",
    help: "URL by which other nodes reach --fleet-listen, such as http://10.0.0.5:8081.",
    scope: "serve",
  }),
} as const;

/** Options that need each other. */
type OptionsOfNode = NodeOptionName | "fleetStore";

export type NodeOptionName = keyof typeof NODE_OPTIONS;

/** Checks the length of the secret. The text is never part of an error. */
function parseFleetSecret(value: string): string {
  if (value.length < SECRET_MIN) throw new Error(`must have at least ${SECRET_MIN} characters`);
  return value;
}

/** Returns the contradictions between the options of a node, as sentences. */
export function nodeProblems(isGiven: (name: OptionsOfNode) => boolean): string[] {
  const { fleetSecret, fleetListen, fleetAddress } = NODE_OPTIONS;
  const problems: string[] = [];
  const needsSecret = (["fleetStore", "fleetListen"] as const).find(isGiven);
  if (needsSecret !== undefined && !isGiven("fleetSecret")) {
    const flag = needsSecret === "fleetStore" ? FLEET_OPTIONS.fleetStore.flag : fleetListen.flag;
    problems.push(`${fleetSecret.env} is required with --${flag}.`);
  }
  if (isGiven("fleetAddress") && !isGiven("fleetListen")) {
    problems.push(`--${fleetListen.flag} is required with --${fleetAddress.flag}.`);
  }
  if (isGiven("fleetListen") && !isGiven("fleetAddress")) {
    problems.push(`--${fleetAddress.flag} is required with --${fleetListen.flag}.`);
  }
  return problems;
}

/** Address of a Valkey or Redis server. */
interface ValkeyAddress {
  /** URL with the credentials, which must not be shown. */
  url: string;
  /** Host and port. */
  name: string;
  isTls: boolean;
  hasPassword: boolean;
}

const SCHEMES = new Map([
  ["valkey:", "redis"],
  ["redis:", "redis"],
  ["valkeys:", "rediss"],
  ["rediss:", "rediss"],
]);
const FORM = "valkey://host:port or valkeys://host:port";
const DEFAULT_PORT = "6379";

/** Options for what nodes of a fleet share in memory. Nothing of it is loaded without --valkey. */
export const VALKEY_OPTIONS = {
  valkey: option<ValkeyAddress>({
    flag: "valkey",
    env: "ALLCLEAR_VALKEY_URL",
    fileEnv: "ALLCLEAR_VALKEY_URL_FILE",
    parse: parseValkeyAddress,
    default: undefined,
    placeholder: "URL",
    help: `Valkey 7.2 or Redis 6.2 or later, in which nodes share rate limits: ${FORM}. A URL with a password belongs into the variable, or a file that contains it.`,
    scope: "serve",
    isHidden: true,
  }),
  valkeyCa: option({
    flag: "valkey-ca",
    env: "ALLCLEAR_VALKEY_CA",
    parse: (path: string) => readCertificates(path),
    default: undefined,
    placeholder: "FILE",
    help: "Certificates (PEM) of the authorities that may have signed Valkey's certificate.",
    scope: "serve",
  }),
} as const;

export type ValkeyOptionName = keyof typeof VALKEY_OPTIONS;

/** Parses the address of a server. No message contains it, since it may have a password. */
function parseValkeyAddress(text: string): ValkeyAddress {
  const url = URL.parse(text.trim());
  const scheme = SCHEMES.get(url?.protocol ?? "");
  if (!url || scheme === undefined || url.hostname === "") throw new Error(`must be ${FORM}`);
  if (!/^\/?\d{0,4}$/.test(url.pathname) || url.search !== "" || url.hash !== "") {
    throw new Error("must end with the port or the number of a database, such as /0");
  }
  const port = url.port === "" ? DEFAULT_PORT : url.port;
  const name = `${url.hostname}:${port}`;
  const credentials = url.password === "" ? "" : `${url.username}:${url.password}@`;
  return {
    url: `${scheme}://${credentials}${name}${url.pathname}`,
    name,
    isTls: scheme === "rediss",
    hasPassword: url.password !== "",
  };
}

/** Returns the contradictions between options as sentences. */
export function valkeyProblems(
  values: Readonly<Record<string, unknown>>,
  sourceOf: (name: ValkeyOptionName) => "flag" | "variable" | "default" | undefined,
): string[] {
  const problems: string[] = [];
  const { valkey, valkeyCa } = VALKEY_OPTIONS;
  if (sourceOf("valkey") !== "default" && values["fleetStore"] === undefined) {
    problems.push(`--fleet-store is required with --${valkey.flag}.`);
  }
  const address = values["valkey"] as ValkeyAddress | undefined;
  if (address?.hasPassword && sourceOf("valkey") === "flag") {
    problems.push(
      `--${valkey.flag} must not have a password, since other processes can read it. Set ${valkey.env}.`,
    );
  }
  if (sourceOf("valkeyCa") !== "default" && address?.isTls !== true) {
    problems.push(`--${valkeyCa.flag} needs --${valkey.flag} with valkeys://.`);
  }
  return problems;
}
