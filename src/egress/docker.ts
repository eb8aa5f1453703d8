import { readFileSync, statSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import type { DockerAddress, DockerHosts } from "../base/config/network";
import type { Connector, Opened } from "./connect";
import {
  codeOf,
  type ContainerTarget,
  Fault,
  type HttpAnswer,
  socketFault,
  timedOut,
} from "./model";
import { parseHost } from "./policy";
import { exchange } from "./request";
import type { Resolve } from "./dns";
import type { StepRecorder } from "./steps";

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

/** Asks a Docker host for the state of a container, the only request that is ever sent to it. */
export async function inspectContainer(
  { host, container, signal, steps }: ContainerTarget,
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
  const url = new URL(`http://docker/containers/${encodeURIComponent(container)}/json`);
  return exchange({ url, method: "GET", policy: "monitor", signal, steps }, opened);

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
