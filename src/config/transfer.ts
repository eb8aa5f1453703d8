import type { DockerAddress } from "./docker-hosts";
import type { Config } from "./options";
import { formatNetwork, type Network, parseNetworks } from "./parse";

/** Settings as JSON, for another process of this program. Holds passwords. */
export function writeConfig(config: Config): string {
  const { outboundAllow, trustedProxies, dockerHosts } = config;
  const textOf = (networks: readonly Network[]) => networks.map(formatNetwork).join(",");
  return JSON.stringify({
    ...config,
    ...(outboundAllow && { outboundAllow: textOf(outboundAllow) }),
    trustedProxies: textOf(trustedProxies),
    dockerHosts: [...dockerHosts],
  });
}

/** Reads what `writeConfig` wrote. */
export function readConfig(json: string): Config {
  const written = JSON.parse(json) as Omit<Config, "outboundAllow" | "trustedProxies"> & {
    outboundAllow?: string;
    trustedProxies: string;
    dockerHosts: Iterable<readonly [string, DockerAddress]>;
  };
  const { outboundAllow, trustedProxies, dockerHosts } = written;
  return {
    ...written,
    outboundAllow: outboundAllow === undefined ? undefined : parseNetworks(outboundAllow),
    trustedProxies: parseNetworks(trustedProxies),
    dockerHosts: new Map(dockerHosts),
  };
}
