import ipaddr from "ipaddr.js";
import { connect as connectTcp, isIPv6, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import {
  connect as connectTls,
  type ConnectionOptions,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { Clock } from "../base/clock";
import { formatHost } from "../base/config/parse";
import { certificateOf } from "./certificates";
import { type Libc, loadLibc, SOCKET_FAMILY, socketAddress } from "./libc";
import {
  type Certificate,
  codeOf,
  type Contact,
  Fault,
  nameOfExpiring,
  NO_PORT,
  socketFault,
  timedOut,
} from "./model";
import type { OutsideAnswers } from "./outside";
import { PlainSockets, type RequestSocket } from "./plain-socket";
import type { StepRecorder } from "./steps";

/** An open connection to a checked address. Errors close it; they are never thrown. */
export interface Opened<Kind extends RequestSocket = Socket> {
  socket: Kind;
  address: string;
  certificate: Certificate | null;
}

interface OpenTarget {
  /** Checked addresses in order of preference. */
  addresses: readonly string[];
  port: number;
  tls?: TlsOptions | undefined;
  signal: AbortSignal;
  /** Trusted certificates; those of the connector if undefined. */
  secureContext?: SecureContext | undefined;
  steps?: StepRecorder | undefined;
  /** Contact of the check with this host. */
  contact?: Contact | undefined;
}

export interface TlsOptions {
  /** Name or address that the certificate must contain. */
  host: string;
  /** True if the host is a name, which is then sent to the server (SNI). */
  isName: boolean;
  verify: boolean;
  /** Protocols that the server may choose from (ALPN). */
  protocols?: readonly string[] | undefined;
}

/** Time after which the next address is tried instead. The last address has no limit of its own. */
const NEXT_ADDRESS_AFTER_MS = 2_000;

/** Addresses of this machine, which the runtime reports as they are. */
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

const CLOSED = new Fault("connect", "The connection was closed.");

/** The server closed the connection before TLS began. */
const CLOSED_IN_HANDSHAKE = new Fault("tls", "The connection was closed in the TLS handshake.");

const NO_IPV6_ADDRESS = new Fault("connect", "This machine has no IPv6 address to connect from.");

/** Returns true if this machine has an IPv6 address that is valid beyond one network link. */
function hasIPv6Address(): boolean {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some(({ address, internal }) => isIPv6(address) && !internal && !address.startsWith("fe80:"));
}

/** Opens connections to the first address that accepts one. */
export class Connector {
  readonly #clock: Clock;
  /** Trusted certificates; undefined for those of the runtime. */
  readonly #secureContext: SecureContext | undefined;
  readonly #outside: Pick<OutsideAnswers, "answered"> | undefined;
  readonly #plainSockets = new PlainSockets();

  constructor(
    clock: Clock,
    secureContext: SecureContext | undefined,
    outside?: Pick<OutsideAnswers, "answered">,
  ) {
    this.#clock = clock;
    this.#secureContext = secureContext;
    this.#outside = outside;
  }

  open(target: OpenTarget): Promise<Opened | Fault> {
    const { port, tls, secureContext = this.#secureContext } = target;
    return this.#open(target, (host) =>
      tls
        ? connectTls({ host, port, ...tlsOptions(tls, secureContext) })
        : connectTcp({ host, port }),
    );
  }

  /** Opens a connection without TLS for a request by HTTP/1, which takes less processor time. */
  openPlain(target: Omit<OpenTarget, "tls">): Promise<Opened<RequestSocket> | Fault> {
    return this.#open(target, (host) => this.#plainSockets.connect(host, target.port));
  }

  async #open<Kind extends RequestSocket>(
    target: OpenTarget,
    dial: (address: string) => Kind,
  ): Promise<Opened<Kind> | Fault> {
    let fault: Fault | undefined;
    const { addresses, signal, steps } = target;
    for (const [index, address] of addresses.entries()) {
      const isLast = index === addresses.length - 1;
      const opened = await this.#attempt(target, address, { dial, isLast });
      if (!(opened instanceof Fault)) return opened;
      // A refusal by another address is more important than a lack of ports here.
      if (opened !== NO_PORT) fault = opened;
      // After a failed handshake no other address is tried, since this one has accepted the connection.
      if (signal.aborted || opened.kind === "tls") break;
      if (!isLast) steps?.fail(opened.message);
    }
    if (fault) return fault;
    if (addresses.length === 0) return new Fault("dns", "The name has no address.");
    return addresses.every(isIPv6) && !hasIPv6Address() ? NO_IPV6_ADDRESS : NO_PORT;
  }

  #attempt<Kind extends RequestSocket>(
    target: OpenTarget,
    address: string,
    { dial, isLast }: { dial: (address: string) => Kind; isLast: boolean },
  ): Promise<Opened<Kind> | Fault> {
    const { port, tls, signal, secureContext = this.#secureContext, steps, contact } = target;
    steps?.begin("connect", `${formatHost(address)}:${port}`);
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(timedOut("connecting"));
      let hasConnected = false;
      let isSettled = false;
      let isExplaining = false;
      const socket = dial(address);
      const settle = (outcome: Opened<Kind> | Fault) => {
        if (isSettled) return;
        isSettled = true;
        timer?.cancel();
        signal.removeEventListener("abort", onAbort);
        if (outcome instanceof Fault) socket.destroy();
        resolve(outcome);
      };
      const onAbort = () => settle(timedOut(hasConnected ? "in the TLS handshake" : "connecting"));
      signal.addEventListener("abort", onAbort);
      const timer = isLast
        ? undefined
        : this.#clock.after(NEXT_ADDRESS_AFTER_MS, () => {
            if (!hasConnected) settle(new Fault("connect", "The host did not answer."));
          });
      // Never removed: an error without a listener would end the process.
      socket.on("error", (error) => {
        if (hasConnected) return settle(tls ? tlsFault(error, tls.protocols) : socketFault(error));
        isExplaining = true;
        void this.#explain(error, { address, port, signal, contact }).then(settle);
      });
      socket.once("close", () => {
        if (!isExplaining) settle(hasConnected && tls ? CLOSED_IN_HANDSHAKE : CLOSED);
      });
      socket.once("connect", () => {
        hasConnected = true;
        this.#noteAnswer(address, contact);
        if (tls) steps?.begin("tls");
        else steps?.end();
        if (!tls) settle({ socket, address, certificate: null });
      });
      if (tls) {
        const secured = socket as unknown as TLSSocket;
        secured.once("secureConnect", () => {
          const certificate = verifiedTls(secured, tls, { secureContext, steps });
          settle(certificate instanceof Fault ? certificate : { socket, address, certificate });
        });
      }
    });
  }

  #noteAnswer(address: string, contact: Contact | undefined): void {
    if (contact) contact.hasAnswered = true;
    this.#outside?.answered(address);
  }

  /** Returns the fault of a connection that failed, after noting a refusal, which is an answer. */
  async #explain(
    error: unknown,
    target: Pick<OpenTarget, "port" | "signal" | "contact"> & { address: string },
  ): Promise<Fault> {
    const code = codeOf(error);
    const { address, contact } = target;
    const isDoubtful = code === "ECONNREFUSED" && !LOOPBACK.test(address);
    const reason = isDoubtful ? await refusalCode(this.#clock, target) : code;
    if (reason === "aborted") return timedOut("connecting");
    if (reason === "ECONNREFUSED" || reason === "ECONNRESET") this.#noteAnswer(address, contact);
    if (reason !== "unknown") return socketFault({ code: reason });
    // Neither an answer nor a silence.
    if (contact) contact.hasAnswered = true;
    return socketFault(error);
  }
}

/** Returns the options of a handshake that accepts any certificate. `checkedCertificate` verifies it. */
export function tlsOptions(
  { host, isName, protocols }: Omit<TlsOptions, "verify">,
  secureContext: SecureContext | undefined,
): ConnectionOptions {
  return {
    // Without the final dot of an absolute name (RFC 6066).
    ...(isName && { servername: host.replace(/\.$/, "") }),
    ...(protocols && { ALPNProtocols: [...protocols] }),
    ...(secureContext && { secureContext }),
    // The certificate is checked later, so that messages can contain its facts, such as its expiry.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  };
}

/** Returns the certificate of a handshake, and records it; a fault if it is verified and not trusted. */
function verifiedTls(
  socket: TLSSocket,
  tls: TlsOptions,
  { secureContext, steps }: Pick<OpenTarget, "secureContext" | "steps">,
): Certificate | null | Fault {
  const certificate = checkedCertificate(socket, tls, secureContext);
  if (!(certificate instanceof Fault)) steps?.end(describeTls(socket, certificate));
  return certificate;
}

/** Describes a handshake: the version of TLS, and the end of the certificate. */
function describeTls(socket: TLSSocket, certificate: Certificate | null): string {
  const version = (socket.getProtocol() ?? "TLS").replace(/^TLSv/, "TLS ");
  if (!certificate) return version;
  const day = new Date(certificate.expiresAt).toISOString().slice(0, 10);
  return `${version}, ${nameOfExpiring(certificate.intermediate)} until ${day}`;
}

/** Returns the certificate of a handshake; a fault if it is verified and not trusted for the host. */
export function checkedCertificate(
  socket: TLSSocket,
  { host, verify }: Pick<TlsOptions, "host" | "verify">,
  secureContext: SecureContext | undefined,
): Certificate | null | Fault {
  const certificate = certificateOf(socket, host, secureContext) ?? null;
  if (!verify) return certificate;
  if (!certificate) return new Fault("tls", "The server sent no certificate.");
  return certificate.problem === null
    ? certificate
    : new Fault("tls", certificate.problem, certificate);
}

const TOO_OLD = "The server speaks only versions of TLS that are older than the check allows.";

const HANDSHAKE_ERRORS: Readonly<Record<string, string>> = {
  ECONNRESET: CLOSED_IN_HANDSHAKE.message,
  EPIPE: CLOSED_IN_HANDSHAKE.message,
  ERR_SSL_WRONG_VERSION_NUMBER: "The server does not speak TLS on this port.",
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: TOO_OLD,
  ERR_SSL_UNSUPPORTED_PROTOCOL: TOO_OLD,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: "The server does not know this name.",
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    "The server refused the TLS handshake: it may require other ciphers or a client certificate.",
  ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED: "The server requires a client certificate.",
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: "The server does not trust the client certificate.",
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: "The server does not accept the client certificate.",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: "The server does not accept the client certificate.",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: "The client certificate has expired.",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: "The client certificate has been revoked.",
};

/** The server speaks none of the protocols that it was offered: HTTP/1.1. */
export const SPEAKS_NO_HTTP1 = new Fault("tls", "The server does not speak HTTP/1.1.");

const NO_COMMON_PROTOCOL = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";

/** Converts an error of a handshake in which the server may choose from these protocols. */
export function tlsFault(error: unknown, protocols: readonly string[] = []): Fault {
  const code = codeOf(error);
  if (code === NO_COMMON_PROTOCOL) {
    return protocols.includes("h2")
      ? new Fault("tls", "The server does not speak HTTP/2.")
      : SPEAKS_NO_HTTP1;
  }
  return new Fault(
    "tls",
    HANDSHAKE_ERRORS[code] ?? `The TLS handshake failed (${code || "no reason given"}).`,
  );
}

/** Begins TLS on an open socket and checks the certificate. The socket is destroyed if that fails. */
export function secureSocket(
  socket: Socket,
  tls: TlsOptions,
  {
    secureContext,
    signal,
    steps,
  }: {
    secureContext: SecureContext | undefined;
    signal: AbortSignal;
    steps?: StepRecorder | undefined;
  },
): Promise<{ socket: Socket; certificate: Certificate | null } | Fault> {
  return new Promise((resolve) => {
    steps?.begin("tls");
    if (signal.aborted) {
      socket.destroy();
      return resolve(timedOut("in the TLS handshake"));
    }
    const secured = connectTls({ socket, ...tlsOptions(tls, secureContext) });
    let isSettled = false;
    const settle = (outcome: { socket: Socket; certificate: Certificate | null } | Fault) => {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener("abort", onAbort);
      if (outcome instanceof Fault) {
        secured.destroy();
        socket.destroy();
      }
      resolve(outcome);
    };
    const onAbort = () => settle(timedOut("in the TLS handshake"));
    signal.addEventListener("abort", onAbort);
    // Never removed: an error without a listener would end the process.
    secured.on("error", (error) => settle(tlsFault(error, tls.protocols)));
    const onClose = () => settle(CLOSED_IN_HANDSHAKE);
    secured.once("close", onClose);
    socket.once("close", onClose);
    secured.once("secureConnect", () => {
      const certificate = verifiedTls(secured, tls, { secureContext, steps });
      settle(certificate instanceof Fault ? certificate : { socket: secured, certificate });
    });
  });
}

/*
 * The runtime reports a host or a network without a route as a refused connection. A refusal is an answer of the
 * host, and a missing route may be that of this server, so a second connection finds the reason.
 */

/** SOCK_STREAM, SOCK_NONBLOCK and SOCK_CLOEXEC. */
const SOCKET_TYPE = 0x1 | 0x800 | 0x8_0000;
const POLLOUT = 4;
const SOL_SOCKET = 1;
const SO_ERROR = 4;
const EINPROGRESS = 115;

/** Codes of the reasons that the runtime hides, by their numbers. */
const HIDDEN: Readonly<Record<number, string>> = {
  100: "ENETDOWN",
  101: "ENETUNREACH",
  110: "ETIMEDOUT",
  112: "EHOSTDOWN",
  113: "EHOSTUNREACH",
};

/** First and longest time between two looks at the socket, in ms. */
const LOOK_MS = { first: 1, max: 100 };

/**
 * Returns the code of the reason for which a connection that was reported as refused failed: `ECONNREFUSED`, also if
 * the second connection succeeds or shows nothing else. `unknown` if there can be none, such as on other systems than
 * Linux; `aborted` if the signal aborts first.
 */
async function refusalCode(
  clock: Clock,
  { address, port, signal }: { address: string; port: number; signal: AbortSignal },
): Promise<string> {
  const library = loadLibc();
  const bytes = ipaddr.process(address).toByteArray();
  const socket = library?.socket(SOCKET_FAMILY[bytes.length === 4 ? 4 : 6], SOCKET_TYPE, 0) ?? -1;
  if (!library || socket < 0) return "unknown";
  try {
    const target = socketAddress(bytes, port);
    const error = library.connect(socket, target, target.byteLength) === 0 ? 0 : library.error();
    const settled =
      error === EINPROGRESS ? await settledError(library, socket, clock, signal) : error;
    return settled === undefined ? "aborted" : (HIDDEN[settled] ?? "ECONNREFUSED");
  } finally {
    library.close(socket);
  }
}

/** Waits until a connection has succeeded or failed. Returns the number of its error, 0 for none. */
async function settledError(
  library: Libc,
  socket: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<number | undefined> {
  const request = Buffer.alloc(8);
  request.writeInt32LE(socket, 0);
  request.writeInt16LE(POLLOUT, 4);
  for (let waitMs = LOOK_MS.first; !signal.aborted; waitMs = Math.min(waitMs * 2, LOOK_MS.max)) {
    if (library.poll(request, 1, 0) > 0) {
      const value = Buffer.alloc(4);
      const length = Buffer.from([4, 0, 0, 0]);
      library.getsockopt(socket, SOL_SOCKET, SO_ERROR, value, length);
      return value.readInt32LE(0);
    }
    await new Promise<void>((resolve) => {
      const timer = clock.after(waitMs, done);
      function done() {
        timer.cancel();
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done, { once: true });
    });
  }
  return undefined;
}
