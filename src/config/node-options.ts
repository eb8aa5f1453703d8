import { FLEET_OPTIONS } from "./fleet-options";
import { option } from "./option";
import { parseBaseUrl, parseListen } from "./parse";

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
