import { EventEmitter } from "node:events";
import { connect as connectTcp } from "node:net";

/** A socket as a request by HTTP/1 uses it. Those of `node:net` are such ones too. */
export interface RequestSocket {
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  once(event: "connect" | "close", listener: () => void): unknown;
  write(bytes: Uint8Array): unknown;
  destroy(): unknown;
}

/**
 * Limit of connections that were given up before they opened, after which sockets are those of `node:net`. The runtime
 * cannot end one of `Bun.connect`: it keeps its descriptor until the system gives up, for about two minutes.
 */
const GIVEN_UP_MAX = 32;

/** Opens TCP connections by `Bun.connect`, which takes half the processor time of a socket of `node:net`. */
export class PlainSockets {
  readonly #givenUp = new Set<PlainSocket>();

  /** Begins to connect to a checked address. */
  connect(host: string, port: number): RequestSocket {
    return this.#givenUp.size < GIVEN_UP_MAX
      ? new PlainSocket(host, port, this.#givenUp)
      : connectTcp({ host, port });
  }
}

/** A TCP connection with the events of `node:net`. Data that arrives before anything listens is lost. */
class PlainSocket
  extends EventEmitter<{ connect: []; data: [Buffer]; end: []; close: []; error: [Error] }>
  implements RequestSocket
{
  readonly #givenUp: Set<PlainSocket>;
  #opened: Bun.Socket<undefined> | undefined;
  #unsent: Uint8Array | undefined;
  #isDestroyed = false;

  constructor(hostname: string, port: number, givenUp: Set<PlainSocket>) {
    super();
    this.#givenUp = givenUp;
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
    if (this.#opened) this.#opened.end();
    else this.#givenUp.add(this);
  }

  #open(opened: Bun.Socket<undefined>): void {
    this.#givenUp.delete(this);
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
    this.#givenUp.delete(this);
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    if (error) this.emit("error", error);
    this.emit("close");
  }
}
