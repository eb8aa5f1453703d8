import { connect } from "node:http2";
import type { SecureContext } from "node:tls";
import { VERSION } from "../version";
import {
  type Connector,
  type Opened,
  secureSocket,
  SPEAKS_NO_HTTP1,
  tlsFault,
  type TlsOptions,
} from "./connect";
import type { Resolve } from "./dns";
import { HandedSocket } from "./handed-socket";
import {
  bodyFact,
  BoundedBytes,
  BROKEN,
  HttpReader,
  INTERIM_ANSWERS_MAX,
  SPEAKS_HTTP2,
} from "./http-reader";
import {
  codeOf,
  DEFAULT_BODY_MAX_BYTES,
  Fault,
  type HttpAnswer,
  type HttpRequest,
  type Proxy,
  socketFault,
  timedOut,
} from "./model";
import { type Host, hostOf, parseHost } from "./policy";
import { openTunnel, type OutboundProxy } from "./proxy";
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
  return (await import("./request")).exchangeHttp2(request, again);

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

/** Headers about the length of the message and the connection, which are set here. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

// A token and a field value of RFC 9110.
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns the error of a header to send, without its value; undefined for a valid one. */
export function headerError(name: string, value: string): string | undefined {
  if (OWN_HEADERS.has(name.toLowerCase())) return "is set by Allclear itself";
  if (!NAME.test(name)) return "has a name that HTTP does not allow";
  if (!VALUE.test(value)) return "has a value with characters that HTTP does not allow";
  return undefined;
}

/** Returns the URL of a request with the host by which the server is known. */
export function namedUrl({ url, hostName }: HttpRequest): URL {
  return (hostName === undefined ? null : URL.parse(`${url.protocol}//${hostName}`)) ?? url;
}

/** Returns the headers to send by their names in lower case, with the names as they are spelt. */
export function headersToSend(
  request: HttpRequest,
): Map<string, readonly [name: string, value: string]> {
  const { method, headers, body = "" } = request;
  const isEmptyBody = body === "" && !METHODS_WITH_BODY.has(method);
  const all = {
    Host: namedUrl(request).host,
    "User-Agent": `Allclear/${VERSION}`,
    Accept: "*/*",
    ...headers,
    ...(!isEmptyBody && { "Content-Length": String(Buffer.byteLength(body)) }),
  };
  return new Map(
    Object.entries(all).map(([name, value]) => [name.toLowerCase(), [name, value] as const]),
  );
}

/** Methods whose requests declare their length even without a body. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** Returns headers by name; values of one name are joined by ", ". */
export function headersOf(
  lines: readonly (readonly [name: string, value: string])[],
): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of lines) {
    const before = headers.get(name);
    const text = headerText(value);
    headers.set(name, before === undefined ? text : `${before}, ${text}`);
  }
  return headers;
}

/** Returns the text of a header value with one character per byte: as UTF-8, else as windows-1252. */
function headerText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

const HEAD_MAX_BYTES = 64 * 1024;

/** Headers of HTTP/1 that HTTP/2 does not have. */
const NOT_SENT: ReadonlySet<string> = new Set(["host", "connection", "content-length"]);

/** Sends a request by HTTP/2, reads the answer and closes the connection in any case. */
export async function exchangeHttp2(
  request: HttpRequest,
  { socket, address, certificate }: Opened,
): Promise<HttpAnswer | Fault> {
  const { url, method, body, signal, steps, maxBodyBytes = DEFAULT_BODY_MAX_BYTES } = request;
  steps?.begin("request");
  const sent = headersToSend(request);
  // Frames and headers need some bytes of their own.
  const handed = new HandedSocket(socket, 2 * maxBodyBytes + 4 * HEAD_MAX_BYTES);
  // TLS, if any, has begun, so the session itself needs none.
  const session = connect(`http://${url.host}`, {
    createConnection: () => handed,
    settings: { enablePush: false, maxHeaderListSize: HEAD_MAX_BYTES },
  });
  let hasEnded = false;
  handed.prependListener(
    "data",
    foreignStreamGuard(() => (hasEnded = true)),
  );
  let head: Pick<HttpAnswer, "status" | "headers" | "lines"> | undefined;
  let onAbort = () => {};
  try {
    return await new Promise<HttpAnswer | Fault>((resolve) => {
      const fail = () =>
        resolve(
          head
            ? new Fault("connect", BROKEN, undefined, true)
            : (handed.fault ?? new Fault("protocol", "The answer is not HTTP/2.")),
        );
      onAbort = () =>
        resolve(head ? timedOut("reading the answer", true) : timedOut("waiting for the answer"));
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort);
      session.on("error", fail);
      session.on("close", fail);
      const stream = session.request({
        ":method": method,
        ":scheme": url.protocol.slice(0, -1),
        ":authority": sent.get("host")?.[1] ?? url.host,
        ":path": url.pathname + url.search,
        ...Object.fromEntries(
          [...sent]
            .filter(([name]) => !NOT_SENT.has(name))
            .map(([name, [, value]]) => [name, value]),
        ),
      });
      let interimAnswers = 0;
      const bytes = new BoundedBytes(maxBodyBytes);
      const finish = (isTruncated: boolean, isSkipped = false) => {
        if (!head) return fail();
        const read = { body: bytes.bytes, isTruncated, isSkipped };
        steps?.end(bodyFact(read));
        resolve({ ...head, sentBody: read.body, isTruncated, address, certificate });
      };
      stream.on("error", fail);
      stream.on("headers", () => {
        interimAnswers += 1;
        if (interimAnswers > INTERIM_ANSWERS_MAX) {
          resolve(new Fault("protocol", "The server sent interim answers without end."));
        }
      });
      stream.on("response", (headers) => {
        const lines = linesOf(headers);
        head = { status: Number(headers[":status"]), headers: headersOf(lines), lines };
        steps?.end(`HTTP status ${head.status}, by HTTP/2`);
        steps?.begin("body");
        const length = Number(head.headers.get("content-length") ?? Infinity);
        const isNeeded = length <= maxBodyBytes || (request.isBodyNeeded?.(head) ?? true);
        if (!isNeeded) finish(true, true);
      });
      stream.on("data", (chunk: Buffer) => {
        if (!bytes.append(chunk)) finish(true);
      });
      stream.on("end", () => (hasEnded ? finish(false) : fail()));
      if (body) stream.end(body);
      else stream.end();
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    session.destroy();
    handed.destroy();
    socket.destroy();
  }
}

/** Returns the headers of an answer as lines, without those of HTTP/2 itself. */
function linesOf(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.entries(headers)
    .filter(([name]) => !name.startsWith(":"))
    .flatMap(([name, value = []]) =>
      [value].flat().map((each): [name: string, value: string] => [name, each]),
    );
}

const HEADER_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const PUSH_PROMISE = 5;
/** Frames that are read, more than 4 MiB in pieces of a kilobyte need. Each costs the runtime some time. */
const FRAMES_MAX = 16 * 1024;
/** Flag of the last frame of a stream. */
const END_STREAM = 1;
/** Number of the only stream of a client that sends one request. */
const OWN_STREAM = 1;

/**
 * Returns a listener for the data of an HTTP/2 server that throws at a frame of a stream which the server
 * has begun. The runtime reports errors of such a stream to no listener, so that they would end the process.
 * It also throws after `FRAMES_MAX` frames. `onEnd` is called once the last frame of the own stream is complete; the
 * runtime reports it as it does a lost connection.
 */
export function foreignStreamGuard(onEnd?: () => void): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let filled = 0;
  let payloadLeft = 0;
  let frames = 0;
  let isLast = false;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(payloadLeft, chunk.length - at);
      const copied = chunk.copy(header, filled, at + skipped);
      payloadLeft -= skipped;
      filled += copied;
      at += skipped + copied;
      if (filled === HEADER_BYTES) {
        filled = 0;
        frames += 1;
        if (frames > FRAMES_MAX) throw new Error("the server sends too many frames");
        payloadLeft = header.readUIntBE(0, 3);
        const stream = header.readUInt32BE(5) & 0x7f_ff_ff_ff;
        if (stream > OWN_STREAM || header[3] === PUSH_PROMISE) {
          throw new Error("the server has begun a stream");
        }
        const [, , , type = 0, flags = 0] = header;
        const canEnd = stream === OWN_STREAM && (type === DATA || type === HEADERS);
        isLast ||= canEnd && (flags & END_STREAM) !== 0;
      }
      if (!isLast || payloadLeft > 0) continue;
      isLast = false;
      onEnd?.();
    }
  };
}
