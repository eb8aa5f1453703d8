import { type IncomingMessage, request as startRequest } from "node:http";
import type { SecureContext } from "node:tls";
import { plural } from "../kernel/text";
import { VERSION } from "../version";
import { type Connector, type Opened, tlsFault } from "./connect";
import { codeOf, Fault, socketFault, timedOut } from "./fault";
import { hostOf, parseHost } from "./host";
import { type HttpAnswer, type HttpRequest, type Proxy, DEFAULT_BODY_MAX_BYTES } from "./model";
import { openTunnel } from "./proxy";
import { headerError } from "./request-headers";
import type { Resolve } from "./resolve";
import { secureSocket } from "./secure";
import type { SecureContexts } from "./secure-contexts";

/** Maximum number of interim responses (1xx). */
const INTERIM_ANSWERS_MAX = 10;

const ALPN = ["http/1.1"];

interface RequestDependencies {
  resolve: Resolve;
  connector: Connector;
  secureContexts: SecureContexts;
}

/** Sends one request over a connection of its own, to a checked address. */
export async function sendRequest(
  request: HttpRequest,
  { resolve, connector, secureContexts }: RequestDependencies,
): Promise<HttpAnswer | Fault> {
  const rejection = requestError(request);
  if (rejection) return new Fault("refused", rejection);
  const { url, connectTo, family, policy, signal, steps, proxy } = request;
  const { verifyTls: verify = true } = request;
  const reached = connectTo ? parseHost(connectTo.host) : hostOf(url.hostname);
  const resolved = await resolve({ host: reached, family, policy, signal, steps });
  if (resolved instanceof Fault) return resolved;
  const { addresses } = resolved;
  const host = hostOf(namedUrl(request).hostname) ?? resolved.host;
  const isTls = url.protocol === "https:";
  const secureContext = contextOf(request, secureContexts);
  if (secureContext instanceof Fault) return secureContext;
  const port = connectTo?.port ?? (url.port === "" ? (isTls ? 443 : 80) : Number(url.port));
  const tls = isTls
    ? { host: host.name, isName: !host.isAddress, verify, protocols: ALPN }
    : undefined;
  const opened = proxy
    ? await openBehind(proxy, secureContext)
    : await connector.open({ addresses, port, tls, signal, secureContext, steps });
  return opened instanceof Fault ? opened : exchange(request, opened);

  async function openBehind(
    by: Proxy,
    context: SecureContext | undefined,
  ): Promise<Opened | Fault> {
    const target = { proxy: by, addresses, port };
    // The client certificate is for the target only.
    const ofProxy = contextOf({ ...request, clientCertificate: undefined }, secureContexts);
    if (ofProxy instanceof Fault) return ofProxy;
    const deps = { resolve, connector, secureContext: ofProxy };
    const tunnel = await openTunnel(target, request, deps);
    if (tunnel instanceof Fault || !tls) return tunnel;
    const secured = await secureSocket(tunnel.socket, tls, {
      secureContext: context,
      signal,
      steps,
    });
    return secured instanceof Fault ? secured : { ...tunnel, ...secured };
  }
}

/** Returns the URL of a request with the host by which the server is known. */
function namedUrl({ url, hostName }: HttpRequest): URL {
  return (hostName === undefined ? null : URL.parse(`${url.protocol}//${hostName}`)) ?? url;
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
  const { url, method, headers, body, signal, maxBodyBytes = DEFAULT_BODY_MAX_BYTES } = request;
  const { steps } = request;
  const { socket } = opened;
  steps?.begin("request");
  return new Promise((resolve) => {
    let answer: IncomingMessage | undefined;
    let interimAnswers = 0;
    let isSettled = false;
    const settle = (outcome: HttpAnswer | Fault) => {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      resolve(outcome);
    };
    const onAbort = () =>
      settle(timedOut(answer ? "reading the answer" : "waiting for the answer"));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);

    const sent = startRequest({
      createConnection: () => socket,
      method,
      path: url.pathname + url.search,
      headers: {
        "User-Agent": `Allclear/${VERSION}`,
        Accept: "*/*",
        ...headers,
        Host: namedUrl(request).host,
      },
    });
    sent.on("error", (error) => settle(exchangeFault(error, answer !== undefined)));
    sent.on("information", () => {
      interimAnswers += 1;
      if (interimAnswers > INTERIM_ANSWERS_MAX) {
        settle(new Fault("protocol", "The server sent interim answers without end."));
      }
    });
    sent.on("upgrade", () =>
      settle(new Fault("protocol", "The server switched to another protocol.")),
    );
    sent.on("response", (received) => {
      answer = received;
      steps?.end(`HTTP status ${received.statusCode}`);
      steps?.begin("body");
      received.on("error", (error) => settle(exchangeFault(error, true)));
      collect(received, maxBodyBytes, (bytes, isTruncated) => {
        steps?.end(
          isTruncated ? `more than ${plural(maxBodyBytes, "byte")}` : plural(bytes.length, "byte"),
        );
        settle(toAnswer(received, bytes, isTruncated, opened));
      });
    });
    sent.end(body);
  });
}

function collect(
  received: IncomingMessage,
  maxBytes: number,
  done: (bytes: Uint8Array, isTruncated: boolean) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  received.on("data", (chunk: Buffer) => {
    // Buffered chunks are still emitted after the limit, up to a hundred thousand of one byte.
    if (length > maxBytes) return;
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) done(Buffer.concat(chunks, maxBytes), true);
  });
  received.on("end", () => {
    if (received.complete) done(Buffer.concat(chunks, length), false);
  });
}

function toAnswer(
  received: IncomingMessage,
  sentBody: Uint8Array,
  isTruncated: boolean,
  { address, certificate }: Opened,
): HttpAnswer {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(received.headersDistinct)) {
    if (value) headers.set(name, value.join(", "));
  }
  return { status: received.statusCode ?? 0, headers, sentBody, isTruncated, address, certificate };
}

function exchangeFault(error: unknown, hasAnswered: boolean): Fault {
  const code = codeOf(error);
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Fault("protocol", "The headers of the answer are too large.");
  }
  if (code.startsWith("HPE_")) {
    return new Fault("protocol", `The answer is not HTTP (${code.slice("HPE_".length)}).`);
  }
  if (hasAnswered) return new Fault("connect", "The connection broke in the middle of the answer.");
  // With TLS 1.3, the server judges a client certificate after the handshake.
  if (code.startsWith("ERR_SSL_")) return tlsFault(error);
  return code === "ECONNRESET" || code === "EPIPE"
    ? new Fault("connect", "The connection was closed without an answer.")
    : socketFault(error);
}
