import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { Fault } from "./fault";
import type { Certificate, ConnectTarget } from "./model";

export interface SocketTarget extends ConnectTarget {
  /** Certificates (PEM) of authorities that are trusted in addition. */
  ca?: string | undefined;
}

/** An open socket for a protocol that the caller speaks. The caller handles its errors and closes it. */
export interface OpenSocket {
  socket: Socket;
  /** All addresses of the host, in order of preference. */
  addresses: readonly string[];
  /** Connected address. */
  address: string;
  certificate: Certificate | null;
  /** TLS on the same socket, begun by the caller. */
  startTls: {
    /** Options for `tls.connect`, which accept any certificate: `check` verifies it. */
    options: ConnectionOptions;
    /** Returns the certificate; a fault if `verify` and it is not trusted for the host. */
    check(socket: TLSSocket, verify: boolean): Certificate | null | Fault;
    /** Converts an error of the handshake. */
    fault(error: unknown): Fault;
  };
}
