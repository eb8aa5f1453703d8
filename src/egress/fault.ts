import type { Certificate } from "./model";

/** Step that failed. */
export type FaultKind =
  /** Nothing was sent: the address, or what was asked for, is refused here. */
  | "refused"
  /** The name has no address, or nobody could say. */
  | "dns"
  /** No connection, or it broke before the answer was complete. */
  | "connect"
  /** The handshake failed, or the certificate is not to be trusted. */
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
  ) {}
}

/** The signal aborted during a step, which ends the sentence "Timed out …". */
export function timedOut(step: string): Fault {
  return new Fault("timeout", `Timed out ${step}.`);
}

const SOCKET_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was reset.",
  EPIPE: "The connection was closed.",
  EHOSTUNREACH: "There is no route to the host.",
  ENETUNREACH: "There is no route to the network.",
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

/** Node's code of an error, such as `ECONNRESET`; empty where it has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}
