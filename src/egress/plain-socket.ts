/* Sockets of requests by HTTP/1 without TLS. Those with TLS, and those that a library is handed, are of `node:net`. */
import { EventEmitter } from "node:events";
import { connect as connectTcp } from "node:net";

/** A socket as a request by HTTP/1 uses it, also one of `node:net`. */
export interface RequestSocket {
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  once(event: "connect" | "close", listener: () => void): unknown;
  write(bytes: Uint8Array): unknown;
  destroy(): unknown;
}

/**
 * Limit of connections of `Bun.connect` that have not opened; further sockets are those of `node:net`. The runtime cannot
 * end one that is given up before: the system goes on for about two minutes, and its descriptor is in use until then.
 */
const UNOPENED_MAX = 64;

/** Opens TCP connections by `Bun.connect`, which takes half the processor time of a socket of `node:net`. */
export class PlainSockets {
  readonly #unopened = new Set<PlainSocket>();

  /** Begins to connect to a checked address. */
  connect(host: string, port: number): RequestSocket {
    return this.#unopened.size < UNOPENED_MAX
      ? new PlainSocket(host, port, this.#unopened)
      : connectTcp({ host, port });
  }
}

/** A TCP connection with the events of `node:net`. Data that arrives before anything listens is lost. */
class PlainSocket
  extends EventEmitter<{ connect: []; data: [Buffer]; end: []; close: []; error: [Error] }>
  implements RequestSocket
{
  readonly #unopened: Set<PlainSocket>;
  #opened: Bun.Socket<undefined> | undefined;
  #unsent: Uint8Array | undefined;
  #isDestroyed = false;

  constructor(hostname: string, port: number, unopened: Set<PlainSocket>) {
    super();
    this.#unopened = unopened.add(this);
    const socket: Bun.SocketHandler<undefined> = {
      open: (opened) => this.#open(opened),
      data: (_, chunk) => void this.emit("data", chunk),
      drain: () => this.#send(),
      end: () => void this.emit("end"),
      close: (_, error) => this.#close(error),
    };
    // The handler of such failures would be called before anything listens.
    Bun.connect({ hostname, port, socket }).catch((error: Error) => this.#close(error));
  }

  /** Sends bytes, as fast as the system takes them. Called once. */
  write(bytes: Uint8Array): void {
    this.#unsent = bytes;
    this.#send();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#opened?.end();
  }

  #open(opened: Bun.Socket<undefined>): void {
    this.#unopened.delete(this);
    this.#opened = opened;
    if (this.#isDestroyed) opened.end();
    else this.emit("connect");
  }

  #send(): void {
    if (!this.#unsent || !this.#opened || this.#isDestroyed) return;
    const sent = this.#opened.write(this.#unsent);
    this.#unsent =
      sent < this.#unsent.length ? this.#unsent.subarray(Math.max(0, sent)) : undefined;
  }

  #close(error: Error | undefined): void {
    this.#unopened.delete(this);
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    if (error) this.emit("error", error);
    this.emit("close");
  }
}
