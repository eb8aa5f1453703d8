import { readFileSync, statSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import type { DockerAddress, DockerHosts } from "../base/config/network";
import type { SecureContexts } from "./certificates";
import {
  type Connector,
  type Opened,
  secureSocket,
  SPEAKS_NO_HTTP1,
  type TlsOptions,
} from "./connect";
import type { Resolve } from "./dns";
import { headerError, namedUrl } from "./http-headers";
import { exchange, SPEAKS_HTTP2 } from "./http1";
import {
  codeOf,
  type ContainerTarget,
  Fault,
  type HttpAnswer,
  type HttpRequest,
  type Proxy,
  socketFault,
  timedOut,
} from "./model";
import { type Host, hostOf, parseHost } from "./policy";
import { openTunnel, type OutboundProxy } from "./proxy";
import type { StepRecorder } from "./steps";

const HTTP1 = "http/1.1";
const HTTP2 = "h2";

interface RequestDependencies {
  resolve: Resolve;
  connector: Connector;
  secureContexts: SecureContexts;
  /** Proxy of the operator. */
  outbound: OutboundProxy | undefined;
}

/** Sends one request over a connection of its own, to a checked address. */
export async function sendRequest(
  request: HttpRequest,
  { resolve, connector, secureContexts, outbound }: RequestDependencies,
): Promise<HttpAnswer | Fault> {
  const rejection = requestError(request);
  if (rejection) return new Fault("refused", rejection);
  const { url, connectTo, family, policy, signal, steps, contact } = request;
  const { verifyTls: verify = true } = request;
  const own = request.proxy === "outbound" ? outbound : undefined;
  const reached = connectTo ? parseHost(connectTo.host) : hostOf(url.hostname);
  const resolved =
    own?.resolvesNames && reached && !reached.isAddress && !own.isExempt(reached, [])
      ? unresolved(reached)
      : await resolve({ host: reached, family, policy, signal, steps, contact });
  if (resolved instanceof Fault) return resolved;
  const { addresses } = resolved;
  const host = hostOf(namedUrl(request).hostname) ?? resolved.host;
  const isOwnUsed = own !== undefined && !own.isExempt(resolved.host, addresses);
  const proxy = isOwnUsed ? own.proxy : request.proxy === "outbound" ? undefined : request.proxy;
  const isTls = url.protocol === "https:";
  const secureContext = contextOf(request, secureContexts);
  if (secureContext instanceof Fault) return secureContext;
  const port = connectTo?.port ?? (url.port === "" ? (isTls ? 443 : 80) : Number(url.port));
  const open = (protocol: string): Promise<Opened | Fault> => {
    const tls = isTls
      ? { host: host.name, isName: !host.isAddress, verify, protocols: [protocol] }
      : undefined;
    return proxy
      ? openBehind(proxy, tls, secureContext)
      : connector.open({ addresses, port, tls, signal, secureContext, steps, contact });
  };
  const opened =
    isTls || proxy
      ? await open(HTTP1)
      : await connector.openPlain({ addresses, port, signal, steps, contact });
  const answer = opened instanceof Fault ? opened : await exchange(request, opened);
  if (answer !== SPEAKS_NO_HTTP1 && answer !== SPEAKS_HTTP2) return answer;
  steps?.fail(answer.message);
  const again = await open(HTTP2);
  if (again instanceof Fault) return again;
  // Loaded when needed: few servers speak nothing else.
  return (await import("./http2")).exchangeHttp2(request, again);

  async function openBehind(
    by: Proxy,
    tls: TlsOptions | undefined,
    context: SecureContext | undefined,
  ): Promise<Opened | Fault> {
    const target = { proxy: by, addresses, port };
    // The client certificate is for the target only.
    const ofProxy = contextOf({ ...request, clientCertificate: undefined }, secureContexts);
    if (ofProxy instanceof Fault) return ofProxy;
    const deps = { resolve, connector, secureContext: ofProxy };
    // The operator names the proxy, so that it may be in a private network.
    const asked = isOwnUsed ? { ...request, policy: "monitor" as const } : request;
    const tunnel = await openTunnel(target, asked, deps);
    if (tunnel instanceof Fault) return tunnel;
    // The proxy has reached it.
    if (contact) contact.hasAnswered = true;
    if (!tls) return tunnel;
    const secured = await secureSocket(tunnel.socket, tls, {
      secureContext: context,
      signal,
      steps,
    });
    return secured instanceof Fault ? secured : { ...tunnel, ...secured };
  }
}

/** Names by which a proxy could reach itself, or the metadata of its cloud. */
const OF_PROXY =
  /^(?:(?:.*\.)?localhost[46]?(?:\.localdomain[46]?)?|ip6-(?:localhost|loopback)|metadata(?:\.goog|\.google\.internal)?|instance-data(?:\..*)?|(?:host|gateway)\.docker\.internal|host\.containers\.internal)\.?$/i;

/** Returns a host whose name the proxy resolves. */
function unresolved(host: Host): { host: Host; addresses: string[] } | Fault {
  return OF_PROXY.test(host.name)
    ? new Fault("refused", "The host's name would lead the proxy to itself or to its cloud.")
    : { host, addresses: [host.name] };
}

/** Returns the context of a request with TLS rules of its own; undefined for that of the installation. */
function contextOf(
  { clientCertificate, ca: ownCa, tlsMin }: HttpRequest,
  secureContexts: SecureContexts,
): SecureContext | undefined | Fault {
  const { ca: clientCa, ...client } = clientCertificate ?? {};
  const added = [ownCa, clientCa].filter((pem) => pem !== undefined);
  const ca = added.length > 0 ? added.join("\n") : undefined;
  try {
    return secureContexts({ ca, tlsMin, client: "certificate" in client ? client : undefined });
  } catch {
    const part = clientCertificate ? "client certificate" : "certificates of the authorities";
    return new Fault("refused", `The ${part} cannot be used.`);
  }
}

function requestError({ url, headers = {} }: HttpRequest): string | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "Only http and https addresses are requested.";
  }
  if (url.username !== "" || url.password !== "") return "The address holds credentials.";
  for (const name in headers) {
    const problem = headerError(name, headers[name] ?? "");
    if (problem) return `A header ${problem}.`;
  }
  return undefined;
}

interface DockerDependencies {
  hosts: DockerHosts;
  /** Directory with the certificates of all hosts that have an address; undefined if none uses TLS. */
  tlsDir: string | undefined;
  resolve: Resolve;
  connector: Connector;
}

const SOCKET_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "There is no socket at the path of the Docker host.",
  EACCES: "This server is not allowed to open the socket of the Docker host.",
};

/**
 * Asks a Docker host for the state of a container, or for the list of all, also of those that are stopped. No other
 * request is ever sent to it.
 */
export async function askDocker(
  { host, container, maxBodyBytes, signal, steps }: ContainerTarget,
  deps: DockerDependencies,
): Promise<HttpAnswer | Fault> {
  const address = deps.hosts.get(host);
  // Like a lack of this server: the container is not to blame.
  if (!address) return new Fault("local", "ALLCLEAR_DOCKER_HOSTS has no host of this name.");
  const opened =
    "path" in address
      ? await openSocket(address.path, signal, steps)
      : await openAddress(host, address);
  if (opened instanceof Fault) return opened;
  const path = container === null ? "json?all=true" : `${encodeURIComponent(container)}/json`;
  const url = new URL(`http://docker/containers/${path}`);
  return exchange({ url, method: "GET", policy: "monitor", maxBodyBytes, signal, steps }, opened);

  async function openAddress(
    name: string,
    target: Exclude<DockerAddress, { path: string }>,
  ): Promise<Opened | Fault> {
    const parsed = { host: parseHost(target.host), policy: "monitor", signal, steps } as const;
    const resolved = await deps.resolve(parsed);
    if (resolved instanceof Fault) return resolved;
    const secureContext = readSecureContext(deps.tlsDir, name);
    if (secureContext instanceof Fault) return secureContext;
    const { name: hostName, isAddress } = resolved.host;
    return deps.connector.open({
      addresses: resolved.addresses,
      port: target.port,
      tls: secureContext && { host: hostName, isName: !isAddress, verify: true },
      secureContext,
      signal,
      steps,
    });
  }
}

/**
 * Reads the certificates of a host; undefined without a directory of certificates. Anything missing in one is a
 * fault: the host would otherwise be used without TLS, or without its own authority.
 */
function readSecureContext(
  directory: string | undefined,
  name: string,
): SecureContext | undefined | Fault {
  if (directory === undefined) return undefined;
  const folder = join(directory, name);
  try {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      return missing("subdirectory");
    }
    const [ca, cert, key] = ["ca.pem", "cert.pem", "key.pem"].map((file) => readPem(folder, file));
    if (!ca) return missing("ca.pem");
    if (!cert && !key) return createSecureContext({ ca });
    if (!cert) return missing("cert.pem beside key.pem");
    if (!key) return missing("key.pem beside cert.pem");
    return createSecureContext({ ca, cert, key });
  } catch {
    return new Fault("local", "This server cannot read the certificates of the Docker host.");
  }
}

/** Returns the text of a file; undefined if there is none, or it is empty. Throws if it cannot be read. */
function readPem(folder: string, file: string): string | undefined {
  const path = join(folder, file);
  if (!statSync(path, { throwIfNoEntry: false })) return undefined;
  return readFileSync(path, "utf8").trim() || undefined;
}

function missing(what: string): Fault {
  return new Fault("local", `ALLCLEAR_DOCKER_TLS_DIR has no ${what} for this Docker host.`);
}

/** Opens a socket of this machine. */
function openSocket(
  path: string,
  signal: AbortSignal,
  steps: StepRecorder | undefined,
): Promise<Opened | Fault> {
  steps?.begin("connect");
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(timedOut("connecting"));
    const socket = connectSocket({ path });
    const settle = (outcome: Opened | Fault) => {
      signal.removeEventListener("abort", onAbort);
      if (outcome instanceof Fault) socket.destroy();
      resolve(outcome);
    };
    const onAbort = () => settle(timedOut("connecting"));
    signal.addEventListener("abort", onAbort);
    // Never removed: an error without a listener would end the process.
    socket.on("error", (error) => {
      const message = SOCKET_FAULTS[codeOf(error)];
      settle(message === undefined ? socketFault(error) : new Fault("local", message));
    });
    socket.once("connect", () => settle({ socket, address: path, certificate: null }));
  });
}
