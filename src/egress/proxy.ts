import ipaddr from "ipaddr.js";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { Config } from "../base/config/options";
import { formatHost, parseNetworks } from "../base/config/parse";
import { VERSION } from "../version";
import type { Connector, Opened } from "./connect";
import type { Resolve } from "./dns";
import { Fault, type HttpRequest, type Proxy } from "./model";
import { type Host, hostOf } from "./policy";

/** Maximum length of a proxy's answer, in bytes. */
const ANSWER_MAX_BYTES = 16 * 1024;

/** Number of a target's addresses that are tried. */
const ADDRESSES_MAX = 3;

interface TunnelTarget {
  proxy: Proxy;
  /** Checked addresses of the target in order of preference. */
  addresses: readonly string[];
  port: number;
}

/**
 * Opens a connection to the first address that a proxy connects to (CONNECT). The proxy gets no name, so
 * that it connects to a checked address. Messages of faults name the proxy as the step that failed. Their kind
 * is `proxy`, unless the proxy reports that the target cannot be reached.
 */
export async function openTunnel(
  { proxy, addresses, port }: TunnelTarget,
  { policy, signal, steps, verifyTls: verify = true }: HttpRequest,
  {
    resolve,
    connector,
    secureContext,
  }: { resolve: Resolve; connector: Connector; secureContext: SecureContext | undefined },
): Promise<Opened | Fault> {
  const { url } = proxy;
  const resolved = await resolve({ host: hostOf(url.hostname), policy, signal, steps });
  if (resolved instanceof Fault) return ofProxy(resolved);
  const { host } = resolved;
  const isTls = url.protocol === "https:";
  let fault = new Fault("dns", "The name has no address.");
  for (const address of addresses.slice(0, ADDRESSES_MAX)) {
    const opened = await connector.open({
      addresses: resolved.addresses,
      port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
      tls: isTls ? { host: host.name, isName: !host.isAddress, verify } : undefined,
      secureContext,
      signal,
      steps,
    });
    if (opened instanceof Fault) return ofProxy(opened);
    const authority = `${formatHost(address)}:${port}`;
    steps?.begin("proxy", authority);
    const outcome = await connectThrough(opened.socket, proxy, { authority, signal });
    if (!(outcome instanceof Fault)) {
      steps?.end();
      return { socket: opened.socket, address, certificate: null };
    }
    fault = outcome;
    // Only a target that the proxy cannot reach (502 to 504) may be reached at another address.
    if (fault.kind !== "connect" || signal.aborted) break;
    steps?.fail(fault.message);
  }
  return fault;
}

/** Asks a proxy for a connection. Destroys the socket unless it succeeds. */
function connectThrough(
  socket: Socket,
  { username, password }: Proxy,
  { authority, signal }: { authority: string; signal: AbortSignal },
): Promise<"connected" | Fault> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const settle = (outcome: "connected" | Fault) => {
      socket.off("data", onData);
      socket.off("close", onClose);
      signal.removeEventListener("abort", onAbort);
      // It keeps flowing, since a paused one would stay paused. Nothing arrives before the request.
      if (outcome instanceof Fault) socket.destroy();
      resolve(outcome);
    };
    const onAbort = () => settle(new Fault("proxy", "Timed out waiting for the proxy."));
    const onClose = () => settle(new Fault("proxy", "The proxy closed the connection."));
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf("\r\n\r\n");
      if (end < 0 && received.length <= ANSWER_MAX_BYTES) return;
      const outcome = outcomeOf(received.subarray(0, Math.max(end, 0)).toString("latin1"));
      // The target speaks only when spoken to, so that bytes here are no part of its answer.
      const isEarly = outcome === "connected" && received.length > end + 4;
      settle(isEarly ? NO_HTTP : outcome);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    socket.on("data", onData);
    socket.once("close", onClose);
    const credentials = Buffer.from(`${username}:${password}`).toString("base64");
    const lines = [
      `CONNECT ${authority} HTTP/1.1`,
      `Host: ${authority}`,
      `User-Agent: Allclear/${VERSION}`,
      ...(username === "" ? [] : [`Proxy-Authorization: Basic ${credentials}`]),
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  });
}

const NO_HTTP = new Fault("proxy", "The proxy's answer is not that of an HTTP proxy.");

function outcomeOf(head: string): "connected" | Fault {
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r\n|$)/.exec(head)?.[1] ?? 0);
  if (status >= 200 && status < 300) return "connected";
  if (status === 0) return NO_HTTP;
  if (status === 407) return new Fault("proxy", "The proxy rejected the credentials (407).");
  if (status >= 502 && status <= 504) {
    return new Fault("connect", `The proxy could not connect to the target (${status}).`);
  }
  return new Fault("proxy", `The proxy refused the connection (${status}).`);
}

function ofProxy({ kind, message }: Fault): Fault {
  const isOwn = kind === "refused" || kind === "local";
  return new Fault(isOwn ? kind : "proxy", `The connection to the proxy: ${message}`);
}

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
