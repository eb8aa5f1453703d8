import type { Certificate } from "./model";

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
