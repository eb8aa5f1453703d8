import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { tlsFault } from "./connect";
import { type Certificate, codeOf, Fault, socketFault, UNREADABLE } from "./model";

const READS_TOO_MUCH = new Fault(
  "protocol",
  "The server sent more than a check reads.",
  undefined,
  true,
);

/**
 * An open socket as a library gets it. The library can read and write, but not dial: `connect` only
 * reports that the socket is open. Reading ends at a limit, and an error that the library throws while it
 * reads destroys the socket instead of ending the process.
 */
export class HandedSocket extends Duplex {
  readonly #socket: Socket;
  #bytesLeft: number;
  #fault: Fault | undefined;
  #isReleased = false;
  readonly #onData = (chunk: Buffer) => this.#receive(chunk);
  readonly #onEnd = () => void this.push(null);
  // With TLS 1.3, the server judges a client certificate after the handshake.
  readonly #onError = (error: Error) =>
    this.#fail(codeOf(error).startsWith("ERR_SSL_") ? tlsFault(error) : socketFault(error));
  readonly #onClose = () => this.#fail(new Fault("connect", "The connection was closed."));

  /** `maxBytes` is the limit of bytes that are read. */
  constructor(socket: Socket, maxBytes: number) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#bytesLeft = maxBytes;
    // Otherwise the error of a socket that was destroyed before the library listens would be thrown.
    this.on("error", () => {});
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
  }

  /** Reason for which nothing more can be read; undefined while there is none. */
  get fault(): Fault | undefined {
    if (this.#fault) return this.#fault;
    return this.readableEnded ? new Fault("connect", "The connection was closed.") : undefined;
  }

  /** Number of bytes that may still be read. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /**
   * Takes the socket back, for TLS on it. The library gets nothing more, and what it writes fails: it would be
   * sent beside TLS.
   */
  release(): Socket {
    const socket = this.#socket;
    this.#isReleased = true;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("error", this.#onError);
    socket.off("close", this.#onClose);
    socket.pause();
    return socket;
  }

  /** Reports the open socket as connected, whatever address is asked for. */
  connect(): this {
    queueMicrotask(() => {
      this.emit("connect");
      this.emit("ready");
    });
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** Does nothing: the deadline of the check is the only one. */
  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    try {
      return super.emit(event, ...args);
    } catch {
      // The error may repeat what was received, so only the fact is kept.
      this.#fail(UNREADABLE);
      return true;
    }
  }

  override _read(): void {
    if (!this.#isReleased) this.#socket.resume();
  }

  override _write(
    chunk: Buffer,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    if (this.#isReleased) done(new Error("the socket was taken back for TLS"));
    else this.#socket.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#isReleased) done();
    else this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // Errors of the system have such a code; others are those of a library about what it has read.
    const isOfSystem = /^E[A-Z0-9]+$/.test(codeOf(error));
    if (error) this.#fault ??= isOfSystem ? socketFault(error) : UNREADABLE;
    if (!this.#isReleased) this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    if (this.#fault) return;
    if (chunk.length > this.#bytesLeft) {
      return this.#fail(READS_TOO_MUCH);
    }
    this.#bytesLeft -= chunk.length;
    if (!this.push(chunk)) this.#socket.pause();
  }

  #fail(fault: Fault): void {
    this.#fault ??= fault;
    this.destroy();
  }
}

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
