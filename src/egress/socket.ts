import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { HandedSocket } from "./handed-socket";
import type { Certificate, Fault } from "./model";

/** An open socket for a protocol that the caller speaks. The caller handles its errors and closes it. */
export interface OpenSocket {
  socket: Socket;
  /** All addresses of the host, in order of preference. */
  addresses: readonly string[];
  /** Connected address. */
  address: string;
  certificate: Certificate | null;
  /** Returns the socket for a library, which can read at most `maxBytes` bytes and cannot dial. */
  hand(maxBytes: number): HandedSocket;
  /**
   * Begins TLS on the open socket, such as after STARTTLS, and returns the encrypted one. Nothing may read
   * the open socket meanwhile. A fault destroys it.
   */
  secure(options: { verify: boolean; signal: AbortSignal }): Promise<OpenSocket | Fault>;
  /** TLS on the same socket, begun by the caller's library. */
  startTls: {
    /** Options for `tls.connect`, which accept any certificate: `check` verifies it. */
    options: ConnectionOptions;
    /** Returns the certificate; a fault if `verify` and it is not trusted for the host. */
    check(socket: TLSSocket, verify: boolean): Certificate | null | Fault;
    /** Converts an error of the handshake. */
    fault(error: unknown): Fault;
  };
}
