import { readFileSync } from "node:fs";
import { backupProblems } from "./backups";
import { fleetProblems, nodeProblems, valkeyProblems } from "./fleet";
import { identityProxyProblems } from "./identity-proxy";
import { mailProblems } from "./mail";
import { cdnProblems, mirrorProblems } from "./mirror";
import { type DockerAddress, proxyProblems } from "./network";
import { formatNetwork, type Network, type Option, parseNetworks } from "./parse";
import { type Config, type OptionName, OPTIONS, type OptionSource } from "./options";
import { signInProblems } from "./sign-in";

/** Values of flags on the command line, by option. */
export type GivenFlags = Partial<Record<OptionName, string>>;

type LoadedConfig = { config: Config } | { problems: string[] };

type Environment = Record<string, string | undefined>;

/**
 * Reads every option: the flag, else the environment variable, else the default. Returns all problems
 * together, each as a sentence that names the flag or variable.
 */
export function loadConfig(flags: GivenFlags, env: Environment): LoadedConfig {
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  const sources: Partial<Record<OptionName, OptionSource>> = {};
  for (const name of Object.keys(OPTIONS) as OptionName[]) {
    const read = readOption(OPTIONS[name], flags[name], env, problems);
    sources[name] = read.source;
    if ("value" in read) config[name] = read.value;
  }
  const isGiven = (name: OptionName) => sources[name] !== "default";
  const nameGiven = (name: OptionName) => nameOf(name, sources[name]);
  problems.push(
    ...mailProblems(config, isGiven, nameGiven),
    ...cdnProblems(config, isGiven, nameGiven),
    ...backupProblems(config, isGiven, nameGiven),
    ...mirrorProblems(config, isGiven, nameGiven),
    ...fleetProblems(config, isGiven, nameGiven),
    ...nodeProblems(isGiven),
    ...signInProblems(isGiven, nameGiven),
    ...identityProxyProblems(config, isGiven, nameGiven),
    ...proxyProblems(config, (name) => sources[name]),
    ...valkeyProblems(config, (name) => sources[name]),
  );
  return problems.length > 0
    ? { problems }
    : { config: { ...config, sources } as unknown as Config };
}

/**
 * Reads one option: the flag, else the environment variable, else the default. There is no value if none is given, or if it
 * is invalid, which is a problem.
 */
export function readOption(
  option: Omit<Option<unknown>, "scope">,
  flag: string | undefined,
  env: Environment,
  problems: string[],
): { value?: unknown; source: OptionSource } {
  const variable = readVariable(option, env, problems);
  const value = flag ?? variable?.value ?? option.default;
  const source = flag !== undefined ? "flag" : variable ? "variable" : "default";
  if (value === undefined) return { source };
  try {
    return { value: option.parse(value), source };
  } catch (error) {
    const where = flag === undefined ? (variable?.name ?? option.env) : `--${option.flag}`;
    // An option without a flag is a secret.
    const isHidden = option.flag === undefined || option.isHidden;
    const shown = isHidden ? "" : `; it is "${value}"`;
    problems.push(`${where} ${(error as Error).message}${shown}.`);
    return { source };
  }
}

/** Returns the name by which an option is best known: the one that set it, else its flag. */
function nameOf(name: OptionName, source: OptionSource | undefined): string {
  const { flag, env } = OPTIONS[name];
  return flag === undefined || source === "variable" ? env : `--${flag}`;
}

/** Reads the variable of an option, or the file that a variable names. Undefined if neither is set. */
function readVariable(
  { env: name, fileEnv }: Pick<Option<unknown>, "env" | "fileEnv">,
  env: Environment,
  problems: string[],
): { name: string; value: string | undefined } | undefined {
  const value = env[name];
  const path = fileEnv === undefined ? undefined : env[fileEnv];
  if (fileEnv === undefined || path === undefined) {
    return value === undefined ? undefined : { name, value };
  }
  if (value !== undefined) {
    problems.push(`${name} and ${fileEnv} must not both be set.`);
    return { name, value };
  }
  try {
    return { name: fileEnv, value: readFileSync(path, "utf8").replace(/\r?\n$/, "") };
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    // Its value is not repeated: it may be the secret itself, put into the wrong variable.
    problems.push(`${fileEnv} must name a file that can be read (${code}).`);
    return { name: fileEnv, value: undefined };
  }
}

/** Settings as JSON, for another process of this program. Holds passwords. */
export function writeConfig(config: Config): string {
  const { outboundAllow, trustedProxies, identityProxy, dockerHosts } = config;
  const textOf = (networks: readonly Network[]) => networks.map(formatNetwork).join(",");
  return JSON.stringify({
    ...config,
    ...(outboundAllow && { outboundAllow: textOf(outboundAllow) }),
    trustedProxies: textOf(trustedProxies),
    identityProxy: textOf(identityProxy),
    dockerHosts: [...dockerHosts],
  });
}

/** Reads what `writeConfig` wrote. */
export function readConfig(json: string): Config {
  const written = JSON.parse(json) as Omit<
    Config,
    "outboundAllow" | "trustedProxies" | "identityProxy"
  > & {
    outboundAllow?: string;
    trustedProxies: string;
    identityProxy: string;
    dockerHosts: Iterable<readonly [string, DockerAddress]>;
  };
  const { outboundAllow, trustedProxies, identityProxy, dockerHosts } = written;
  return {
    ...written,
    outboundAllow: outboundAllow === undefined ? undefined : parseNetworks(outboundAllow),
    trustedProxies: parseNetworks(trustedProxies),
    identityProxy: parseNetworks(identityProxy),
    dockerHosts: new Map(dockerHosts),
  };
}
