import { readCertificates } from "./certificates";
import { option } from "./option";

/** Address of a Valkey or Redis server. */
export interface ValkeyAddress {
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
