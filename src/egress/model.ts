import type { StepRecorder } from "./steps";

/** Host that a check contacted last, and how that ended. The connections of the check fill it in. */
export interface Contact {
  /** Name or address; undefined before the first contact. Of a DNS query it is the resolver. */
  host?: string | undefined;
  /** Addresses of the host; empty if its name was not resolved. */
  addresses: readonly string[];
  /** True if the host accepted or refused a connection. */
  hasAnswered?: boolean;
  /**
   * Kind of the failure, if the host may not have been reached: its name was not resolved, it could not be reached,
   * did not answer in time, or its proxy failed. Undefined after an answer, and for failures of this server.
   */
  silence?: "dns" | "connect" | "timeout" | "proxy" | undefined;
}

interface Recorded {
  /** Records the steps of a connection, if anyone asked for them. */
  steps?: StepRecorder | undefined;
  /** Receives the host of a connection and its outcome. */
  contact?: Contact | undefined;
}

/** Name of a policy in `policy.ts`. */
export type PolicyName = "monitor" | "webhook" | "mail" | "private";

export type IpFamily = 4 | 6;

export interface ResolveTarget extends Recorded {
  /** A name, or an address (an IPv6 one with or without brackets). */
  host: string;
  family?: IpFamily | undefined;
  policy: PolicyName;
  /** Aborts at the deadline, or to cancel. */
  signal: AbortSignal;
}

/** Versions of TLS, the oldest one first. */
export const TLS_VERSIONS = ["1.0", "1.1", "1.2", "1.3"] as const;
export type TlsVersion = (typeof TLS_VERSIONS)[number];

/** Rules of one connection for TLS, in addition to those of the installation. */
export interface TlsRules {
  /** Certificates (PEM) of authorities that are trusted in addition. */
  ca?: string | undefined;
  /** Oldest version of TLS that may be used; 1.2 if omitted. */
  tlsMin?: TlsVersion | undefined;
}

/** Outcome of an echo request. `unsupported`: nothing was sent, since this process lacks the permission. */
export interface PingOutcome {
  outcome: "answered" | "silent" | "unsupported";
  /** Checked address. */
  address: string;
  /** Time until the reply, in whole ms; 0 without one. */
  latencyMs: number;
}

export interface ConnectTarget extends ResolveTarget, TlsRules {
  port: number;
  /** Name or address by which the server is known in TLS; the host if omitted. */
  serverName?: string | undefined;
  /** TLS; `verify: false` accepts any certificate. The server may choose one of the protocols (ALPN). */
  tls?: { verify: boolean; protocols?: readonly string[] | undefined } | undefined;
  /** Headers that the caller sends, by name. */
  headers?: Readonly<Record<string, unknown>> | undefined;
}

/** Certificate of a server. */
export interface Certificate {
  /** Name or address by which the server was reached. */
  host: string;
  /** SHA-256 of the certificate that expires first, in hex: that of the server, or one that signed it. */
  fingerprint: string;
  /** End of that certificate, in unix ms. */
  expiresAt: number;
  /** Name of that certificate if it is one that the server sends with its own; null for its own. */
  intermediate: string | null;
  /** Name of the owner. */
  subject: string;
  /** Name of the authority. */
  issuer: string;
  /** Reason for which it is not trusted; null if it is. */
  problem: string | null;
}

/** Names the certificate of a chain that expires first, which is an intermediate one unless null. */
export function nameOfExpiring(intermediate: string | null): string {
  if (intermediate === null) return "certificate";
  return `intermediate certificate${intermediate === "" ? "" : ` “${intermediate}”`}`;
}

/** An open connection, which the caller closes. */
export interface Connection {
  /** Connected address. */
  address: string;
  certificate: Certificate | null;
  close(): void;
}

/** Default limit of a body that is read, in bytes. */
export const DEFAULT_BODY_MAX_BYTES = 256 * 1024;

/** Certificate with which this server identifies itself, in PEM. */
export interface ClientCertificate {
  /** May be followed by its chain. */
  certificate: string;
  key: string;
  /** Certificates of authorities that are trusted in addition. */
  ca?: string | undefined;
}

/** HTTP proxy, to which the policy applies too. */
export interface Proxy {
  /** http or https, without user info. */
  url: URL;
  /** Empty for no credentials. */
  username: string;
  password: string;
}

export interface HttpRequest extends Recorded, TlsRules {
  /** http or https, without user info. */
  url: URL;
  /**
   * Host by which the server is known, with a port if it is not that of the scheme: for the header Host, and its name
   * in TLS. That of the URL if omitted.
   */
  hostName?: string | undefined;
  /** Name or address, and port, of the connection. Those of the URL if omitted. */
  connectTo?: { host: string; port: number | undefined } | undefined;
  method: string;
  /** Names in any case, without those that are set here: see `headerError`. */
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  family?: IpFamily | undefined;
  /** False to accept any certificate; true if omitted. */
  verifyTls?: boolean | undefined;
  clientCertificate?: ClientCertificate | undefined;
  /** The request goes through this proxy; `outbound`: through that of the operator, if there is one. */
  proxy?: Proxy | "outbound" | undefined;
  /** Limit of bytes of the body as sent; 256 KiB if omitted. */
  maxBodyBytes?: number | undefined;
  /**
   * Returns false if the body of an answer need not be read. One of a declared length within the limit is
   * read all the same. All bodies are read if omitted.
   */
  isBodyNeeded?: ((head: Pick<HttpAnswer, "status" | "headers" | "lines">) => boolean) | undefined;
  policy: PolicyName;
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  /** Names in lower case; values of one name joined by ", ". */
  headers: ReadonlyMap<string, string>;
  /** Header lines in their order, with values of one character per byte; empty if omitted. */
  lines?: readonly (readonly [name: string, value: string])[];
  /** Received part of the body as sent. `readBody` decompresses it. */
  sentBody: Uint8Array;
  /** True if the body was longer than what was read, or not needed. */
  isTruncated: boolean;
  certificate: Certificate | null;
  /** Connected address. */
  address: string;
}

export interface ContainerTarget extends Recorded {
  /** Name of a Docker host of the operator. */
  host: string;
  /** Name or id of the container; null for the list of all containers. */
  container: string | null;
  /** Limit of bytes of the answer as sent; 256 KiB if omitted. */
  maxBodyBytes?: number | undefined;
  signal: AbortSignal;
}

export const DNS_RECORD_TYPES = [
  "A",
  "AAAA",
  "CAA",
  "CNAME",
  "MX",
  "NS",
  "PTR",
  "SOA",
  "SRV",
  "TXT",
] as const;
export type DnsRecordType = (typeof DNS_RECORD_TYPES)[number];

export interface DnsQuery extends Recorded {
  name: string;
  type: DnsRecordType;
  /** `address`, `address:port` or `[v6]:port` of the server; the one of the system if omitted. */
  resolver?: string | undefined;
  policy: PolicyName;
  signal: AbortSignal;
}

export interface DnsAnswer {
  /**
   * One text per record, as in zone files: `10 mail.example.com` for MX, names without a final dot. A TXT
   * record with pieces of fewer than 255 bytes has one text per piece.
   */
  records: string[];
}

/** Step that failed. */
export type FaultKind =
  /** The address or the request is forbidden. Nothing was sent. */
  | "refused"
  /** The name has no address, or could not be resolved. */
  | "dns"
  /** The connection failed, or broke before the answer was complete. */
  | "connect"
  /** The proxy could not be reached, or did not connect. Nothing is known of the target. */
  | "proxy"
  /** The handshake failed, or the certificate is not trusted. */
  | "tls"
  /** The response violates the protocol or its limits. */
  | "protocol"
  /** The signal aborted first. */
  | "timeout"
  /** This server or its machine lacks file descriptors or ports. The target is not to blame. */
  | "local";

/** Failure of an outgoing request. It is a value, so that callers must handle it. */
export class Fault {
  constructor(
    readonly kind: FaultKind,
    /**
     * A sentence for people, 300 characters at most. It may be read by the public: it names no host,
     * address, header, body or credential.
     */
    readonly message: string,
    /** Certificate that was received before the failure, such as an expired one. */
    readonly certificate?: Certificate,
    /** True if an answer had begun, so that what it says is unknown. */
    readonly isUndecided = false,
  ) {}
}

/** Fault of an answer that a library does not understand. */
export const UNREADABLE = new Fault("protocol", "The server's answer could not be read.");

/** Returns the fault of an aborted step, which ends the sentence "Timed out …". */
export function timedOut(step: string, isUndecided = false): Fault {
  return new Fault("timeout", `Timed out ${step}.`, undefined, isUndecided);
}

/** Result of a wait that was aborted. */
export const ABORTED = Symbol("aborted");

/** Waits for a promise until the signal aborts. Later results are ignored. */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
): Promise<T | typeof ABORTED> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(ABORTED);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const settled = () => signal.removeEventListener("abort", stop);
    promise.then(resolve, reject).finally(settled);
  });
}

const SOCKET_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was reset.",
  EPIPE: "The connection was closed.",
  EHOSTUNREACH: "There is no route to the host.",
  ENETUNREACH: "There is no route to the network.",
  ENETDOWN: "The network of this machine is down.",
  EHOSTDOWN: "The host did not answer.",
  EACCES: "This machine does not allow the connection.",
  EPERM: "This machine does not allow the connection.",
  ETIMEDOUT: "The host did not answer.",
};

/** No port is free to connect from. A machine without an IPv6 address reports the same for IPv6 addresses. */
export const NO_PORT = new Fault("local", "This machine has no port left to connect from.");

/** Converts a socket's error. */
export function socketFault(error: unknown): Fault {
  const code = codeOf(error);
  if (code === "EADDRNOTAVAIL") return NO_PORT;
  return new Fault(
    "connect",
    SOCKET_ERRORS[code] ?? `The connection failed (${code || "no reason given"}).`,
  );
}

/** Returns the code of an error, such as `ECONNRESET`; empty if it has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}
