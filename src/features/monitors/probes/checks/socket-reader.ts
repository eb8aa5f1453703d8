import type { HandedSocket } from "../../../../egress/handed-socket";

/** Reads lines and bytes of a connection. The limit of what is read is that of the socket. */
export class SocketReader {
  readonly #socket: HandedSocket;
  #bytes = Buffer.alloc(4_096);
  #start = 0;
  #end = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;
  readonly #onData = (chunk: Buffer) => {
    this.#append(chunk);
    this.#wake?.();
  };
  readonly #onEnd = () => {
    this.#isEnded = true;
    this.#wake?.();
  };

  constructor(socket: HandedSocket) {
    this.#socket = socket;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onEnd);
  }

  /** Number of bytes that have arrived and were not read. */
  get buffered(): number {
    return this.#end - this.#start;
  }

  /** Returns the next line without its end, as Latin-1. Rejects if the connection ends before. */
  async line(): Promise<string> {
    let searched = this.#start;
    for (;;) {
      const end = this.#bytes.subarray(0, this.#end).indexOf(0x0a, searched);
      if (end >= 0) {
        const text = this.#bytes.toString("latin1", this.#start, end);
        this.#start = end + 1;
        return text.endsWith("\r") ? text.slice(0, -1) : text;
      }
      const offset = this.#end - this.#start;
      await this.#more();
      searched = this.#start + offset;
    }
  }

  /** Returns the next bytes. Rejects if the connection ends before. */
  async take(length: number): Promise<Buffer> {
    while (this.buffered < length) await this.#more();
    const taken = Buffer.from(this.#bytes.subarray(this.#start, this.#start + length));
    this.#start += length;
    return taken;
  }

  /** Stops reading, so that the socket can be taken back. */
  stop(): void {
    this.#socket.off("data", this.#onData);
    this.#socket.off("end", this.#onEnd);
    this.#socket.off("close", this.#onEnd);
  }

  async #more(): Promise<void> {
    if (this.#isEnded) throw new Error("the connection was closed");
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }

  #append(chunk: Buffer): void {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    const needed = this.#end + chunk.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, this.#start, this.#end);
      this.#bytes = larger;
      this.#end -= this.#start;
      this.#start = 0;
    }
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }
}
