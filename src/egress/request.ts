import type { SecureContext } from "node:tls";
import { type Connector, type Opened, SPEAKS_NO_HTTP1, tlsFault, type TlsOptions } from "./connect";
import { codeOf, Fault, socketFault, timedOut } from "./fault";
import { type Host, hostOf, parseHost } from "./host";
import { bodyFact, BROKEN, HttpReader, SPEAKS_HTTP2 } from "./http-reader";
import { type HttpAnswer, type HttpRequest, type Proxy, DEFAULT_BODY_MAX_BYTES } from "./model";
import type { OutboundProxy } from "./outbound-proxy";
import { openTunnel } from "./proxy";
import { headerError, headersOf, headersToSend, namedUrl } from "./request-headers";
import type { Resolve } from "./resolve";
import { secureSocket } from "./secure";
import type { SecureContexts } from "./secure-contexts";

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
  const opened = await open(HTTP1);
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

/** Sends the request, reads the answer and closes the connection in any case. */
export function exchange(request: HttpRequest, opened: Opened): Promise<HttpAnswer | Fault> {
  const { method, body, signal, steps, maxBodyBytes = DEFAULT_BODY_MAX_BYTES } = request;
  const { socket } = opened;
  steps?.begin("request");
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (outcome: HttpAnswer | Fault) => {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      resolve(outcome);
    };
    const reader = new HttpReader({
      method,
      maxBodyBytes,
      isBodyNeeded: ({ status, lines }) =>
        request.isBodyNeeded?.({ status, headers: headersOf(lines), lines }) ?? true,
      onHead({ status }, oddities) {
        if (isSettled) return;
        steps?.end(withOddities(`HTTP status ${status}`, oddities));
        steps?.begin("body");
      },
      onEnd(outcome) {
        if (outcome instanceof Fault) return settle(outcome);
        // The end of a connection that was given up is that of some bodies too.
        if (isSettled) return;
        const { oddities, lines } = outcome;
        steps?.end(withOddities(bodyFact(outcome), oddities));
        settle({
          status: outcome.status,
          headers: headersOf(lines),
          lines,
          sentBody: outcome.body,
          isTruncated: outcome.isTruncated,
          address: opened.address,
          certificate: opened.certificate,
        });
      },
    });
    const onAbort = () =>
      settle(
        reader.hasHead
          ? timedOut("reading the answer", true)
          : timedOut("waiting for the answer", reader.hasBegun),
      );
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    socket.on("end", () => reader.close());
    socket.on("close", () => reader.close());
    socket.on("error", (error) =>
      settle(
        reader.hasBegun ? new Fault("connect", BROKEN, undefined, true) : exchangeFault(error),
      ),
    );
    const head = headOf(request);
    if (body) socket.write(Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]));
    else socket.write(head, "latin1");
  });
}

/** Adds what was odd in an answer to a fact of a step. */
function withOddities(fact: string, oddities: readonly string[]): string {
  return oddities.length === 0 ? fact : `${fact}; odd: ${oddities.join(", ")}`;
}

function headOf(request: HttpRequest): string {
  const { method, url } = request;
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n`;
  for (const [name, value] of headersToSend(request).values()) head += `${name}: ${value}\r\n`;
  return `${head}Connection: close\r\n\r\n`;
}

function exchangeFault(error: unknown): Fault {
  const code = codeOf(error);
  // With TLS 1.3, the server judges a client certificate after the handshake.
  if (code.startsWith("ERR_SSL_")) return tlsFault(error);
  return code === "ECONNRESET" || code === "EPIPE"
    ? new Fault("connect", "The connection was closed without an answer.")
    : socketFault(error);
}
