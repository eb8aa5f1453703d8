import ipaddr from "ipaddr.js";
import type { Config } from "../config/options";
import { parseNetworks } from "../config/parse";
import type { Host } from "./host";
import type { Proxy } from "./model";

/** Settings that decide which requests of this server go through a proxy. */
export type ProxyConfig = Pick<Config, "outboundProxy" | "noProxy" | "outboundProxyTarget">;

/** Proxy of the operator for the requests of this server. */
export interface OutboundProxy {
  proxy: Proxy;
  /** True if the proxy gets names, which are then not resolved here. */
  resolvesNames: boolean;
  /** Returns true for a host that is reached without the proxy, by its name or one of its addresses. */
  isExempt(host: Host, addresses: readonly string[]): boolean;
}

/** Returns the proxy of the operator; undefined without one. */
export function outboundProxyOf(config: Partial<ProxyConfig> = {}): OutboundProxy | undefined {
  const { outboundProxy: stored, noProxy = [], outboundProxyTarget: target } = config;
  if (!stored) return undefined;
  const isNetwork = (part: string) => /[/:]/.test(part) || /^[\d.]+$/.test(part);
  const networks = noProxy.filter(isNetwork).flatMap(parseNetworks);
  const names = noProxy.filter((part) => !isNetwork(part));
  const isIn = (address: string) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return networks.some(
      ([network, bits]) =>
        network.kind() === parsed.kind() && parsed.match(network as never, bits as never),
    );
  };
  const { url, username, password } = stored;
  return {
    proxy: { url: new URL(url), username, password },
    resolvesNames: target === "name",
    isExempt({ name }, addresses) {
      const bare = name.toLowerCase().replace(/\.$/, "");
      const isNamed = names.some(
        (each) => each === "*" || bare === each || bare.endsWith(`.${each}`),
      );
      return isNamed || [bare, ...addresses].some(isIn);
    },
  };
}
