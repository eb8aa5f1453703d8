import { option } from "./option";
import { type ListenAddress, parseTargets, text } from "./parse";

/** Socket of a Docker host: a file of this machine, or an address. */
export type DockerAddress = { path: string } | ListenAddress;

/** Docker hosts by the names that monitors give them. */
export type DockerHosts = ReadonlyMap<string, DockerAddress>;

/** Options of the Docker hosts that monitors may name. Nobody else can name a socket. */
export const DOCKER_OPTIONS = {
  dockerHosts: option<DockerHosts>({
    flag: "docker-hosts",
    env: "ALLCLEAR_DOCKER_HOSTS",
    parse: parseDockerHosts,
    default: "",
    placeholder: "NAME=URL,…",
    help: "Docker hosts whose containers monitors may check, such as local=unix:///var/run/docker.sock,nas=tcp://10.0.0.5:2376.",
    scope: "serve",
  }),
  dockerTlsDir: option({
    flag: "docker-tls-dir",
    env: "ALLCLEAR_DOCKER_TLS_DIR",
    parse: text,
    default: undefined,
    placeholder: "DIR",
    help: "Directory with a subdirectory for each tcp:// Docker host, named like the host: ca.pem, and cert.pem and key.pem for a client certificate. Omit it for hosts without TLS.",
    scope: "serve",
  }),
} as const;

/** Parses a list of `name=unix:///path` and `name=tcp://host:port`, separated by commas or spaces. */
export function parseDockerHosts(value: string): DockerHosts {
  const hosts = new Map<string, DockerAddress>();
  for (const part of value.split(/[\s,]+/).filter((each) => each !== "")) {
    const [, name, scheme, rest = ""] =
      /^([A-Za-z0-9][A-Za-z0-9_.-]{0,62})=(unix|tcp):\/\/(.+)$/.exec(part) ?? [];
    const address = scheme === "unix" ? socketAt(rest) : tcpAddress(rest);
    if (name === undefined || !address) {
      throw new Error(
        `must list hosts such as local=unix:///var/run/docker.sock, and ${part} is not one`,
      );
    }
    if (hosts.has(name)) throw new Error(`must name each host once, and ${name} is named twice`);
    hosts.set(name, address);
  }
  return hosts;
}

function socketAt(path: string): DockerAddress | undefined {
  return path.startsWith("/") ? { path } : undefined;
}

function tcpAddress(target: string): ListenAddress | undefined {
  try {
    return parseTargets(target)[0];
  } catch {
    return undefined;
  }
}
