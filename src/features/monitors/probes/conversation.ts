import type { TLSSocket } from "node:tls";
import type { HandedSocket, OpenSocket } from "../../../egress/handed-socket";
import { Fault, timedOut, UNREADABLE } from "../../../egress/model";
import type { StepName, StepRecorder } from "../../../egress/steps";
import type { ProbeContext, ProbeResult } from "../monitoring";
import {
  elapsedMs,
  expiryWarning,
  failed,
  seen,
  type TlsFields,
  type TlsMode,
  tlsRulesOf,
} from "./fields";

/** Limit of what a check reads from its server, in bytes. */
const READ_MAX_BYTES = 256 * 1024;

/**
 * Result of a server that answers, but not as it should. The public may read the message: it contains the
 * observation, such as a code of the server, and no secret.
 */
export class CheckFailure extends Error {
  /** `isUndecided` if what would decide was not read. */
  constructor(
    message: string,
    readonly isUndecided = false,
  ) {
    super(message);
  }
}

/** Failure by bytes that anyone could have sent. */
export const EARLY_DATA = "The server sent data between its consent to TLS and the handshake.";

/** A fault of the connection as an error, for code that awaits several steps. */
class ConnectionFault extends Error {
  constructor(readonly fault: Fault) {
    super(fault.message);
  }
}

/** Server of a check. */
interface CheckedServer {
  /** Kind of the server in messages, such as `a MySQL server`. */
  kind: string;
  host: string;
  port: number;
  /** TLS from the first byte on; undefined for none, or for an upgrade during the conversation. */
  tls: { verify: boolean; protocols?: readonly string[] } | undefined;
  /** Fields about certificates in the config of the monitor. */
  config: TlsFields & { certificate_warning_days: number };
  /** Headers that the conversation sends, by name. */
  headers?: Readonly<Record<string, unknown>> | undefined;
}

/** Returns the TLS of a connection by its mode. */
export function tlsOf(mode: TlsMode): { verify: boolean } | undefined {
  return mode === "off" ? undefined : { verify: mode === "verify" };
}

/** Connection of one check. Its methods reject when the connection is lost. */
export class Conversation {
  readonly #kind: string;
  readonly #signal: AbortSignal;
  readonly #lost = Promise.withResolvers<Fault>();
  readonly #end = new AbortController();
  #opened: OpenSocket;
  #socket: HandedSocket;
  #reader: SocketReader | undefined;
  readonly #steps: StepRecorder | undefined;
  #step = "waiting for the answer";

  constructor(
    opened: OpenSocket,
    kind: string,
    { signal, steps }: Pick<ProbeContext, "signal" | "steps">,
  ) {
    this.#opened = opened;
    this.#kind = kind;
    this.#steps = steps;
    this.#signal = signal;
    this.#socket = this.#hand(READ_MAX_BYTES);
    // A conversation that knows a better reason than its deadline gives it before.
    const onAbort = () => setImmediate(() => this.#lost.resolve(timedOut(this.#step)));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  }

  /** Socket for a library. */
  get socket(): HandedSocket {
    return this.#socket;
  }

  /** Aborts when the check has its result, for work that must not go on. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  /** Local address of the connection. */
  get localAddress(): string | undefined {
    return this.#opened.socket.localAddress;
  }

  /** Protocol that the server chose in the TLS handshake (ALPN); undefined without one. */
  get protocol(): string | undefined {
    return (this.#opened.socket as Partial<TLSSocket>).alpnProtocol || undefined;
  }

  get certificate(): OpenSocket["certificate"] {
    return this.#opened.certificate;
  }

  /**
   * Names the step that begins, as the end of the sentence "Timed out …". Without a name it belongs to the
   * one before.
   */
  begin(step: string, name?: StepName, detail?: string): void {
    this.#step = step;
    if (name !== undefined) this.#steps?.begin(name, detail);
  }

  /** Reads the connection for a protocol that is spoken here. A library must not use the socket then. */
  get reader(): SocketReader {
    return (this.#reader ??= new SocketReader(this.#socket));
  }

  write(data: string | Uint8Array): void {
    this.#socket.write(data);
  }

  /** Sends the last bytes, and resolves when they are on their way. */
  finish(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once("close", resolve);
      this.#socket.write(data, () => resolve());
    });
  }

  /** Begins TLS. Bytes that came before it are refused, since anyone could have sent them. */
  async secure(verify: boolean): Promise<void> {
    if ((this.#reader?.buffered ?? 0) + this.#socket.readableLength > 0) {
      throw new CheckFailure(EARLY_DATA);
    }
    const { bytesLeft } = this.#socket;
    this.#reader?.stop();
    this.#reader = undefined;
    this.#socket.release();
    const secured = await this.#opened.secure({ verify, signal: this.#signal });
    if (secured instanceof Fault) throw new ConnectionFault(secured);
    this.#opened = secured;
    this.#socket = this.#hand(bytesLeft);
  }

  /** Waits for the result of a conversation, its deadline, or the end of the connection. */
  async run<T>(talk: Promise<T>): Promise<T | Fault | CheckFailure> {
    try {
      return await Promise.race([talk, this.#lost.promise]);
    } catch (error) {
      if (error instanceof CheckFailure) return error;
      if (error instanceof ConnectionFault) return error.fault;
      // Errors of libraries may repeat what was sent or received, so they are not passed on.
      return this.#lossOf(this.#socket);
    } finally {
      this.#end.abort();
      this.#socket.destroy();
      this.#opened.socket.destroy();
    }
  }

  #hand(maxBytes: number): HandedSocket {
    const socket = this.#opened.hand(maxBytes);
    // A library that reports the end of the connection, or its reason, does so before.
    socket.once("close", () => setImmediate(() => this.#lost.resolve(this.#lossOf(socket))));
    return socket;
  }

  /** Returns the reason for which a conversation cannot go on, with the step at which it ended. */
  #lossOf({ fault = UNREADABLE }: HandedSocket): Fault {
    if (fault === UNREADABLE) {
      return new Fault("protocol", `The server did not answer as ${this.#kind} does.`);
    }
    if (fault.kind !== "connect") return fault;
    return new Fault(fault.kind, `${fault.message.replace(/\.$/, "")} while ${this.#step}.`);
  }
}

/**
 * Connects to a server and runs a conversation with it. Its end closes the connection. A conversation that
 * returns nothing has succeeded.
 */
export async function checkServer(
  { kind, host, port, tls, config, headers }: CheckedServer,
  context: ProbeContext,
  talk: (conversation: Conversation) => Promise<Partial<ProbeResult> | void>,
): Promise<ProbeResult> {
  const { egress, clock, signal, steps, contact } = context;
  const startedAt = clock.monotonic();
  const rules = tlsRulesOf(config);
  const checked = { policy: "monitor", signal, steps, contact } as const;
  const target = { host, port, tls, headers, ...rules, ...checked };
  const opened = await egress.socket(target);
  if (opened instanceof Fault) return failed(opened);
  const conversation = new Conversation(opened, kind, context);
  const outcome = await conversation.run(talk(conversation));
  const certificate = conversation.certificate;
  const dated = certificate && { certificate: seen(certificate) };
  if (outcome instanceof Fault) return { ...dated, ...failed(outcome) };
  const latencyMs = elapsedMs(context, startedAt);
  if (outcome instanceof CheckFailure) {
    const { message, isUndecided } = outcome;
    return { outcome: "failed", latencyMs, message, ...(isUndecided && { isUndecided }), ...dated };
  }
  const warning = expiryWarning(certificate, config.certificate_warning_days, clock);
  return { outcome: "ok", message: warning, ...outcome, latencyMs, ...dated };
}

/** Reads lines and bytes of a connection. The limit of what is read is that of the socket. */
class SocketReader {
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
