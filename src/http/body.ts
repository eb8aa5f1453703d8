import { Type } from "@sinclair/typebox";
import { Problem } from "../base/errors";
import type { Clock, Timer } from "../base/clock";
import { BODY_MAX_BYTES, bodyTooLarge, declareBody } from "./declared-body";
import { splitUrl } from "./request-url";

/** Bytes of a body that the runtime reads before it answers 413 by itself. */
export const RUNTIME_BODY_MAX_BYTES = 1024 * 1024;

const NO_BYTES = new Uint8Array();

// A property of the request, so that the reader of the body finds it.
const INCOMING_BODY = Symbol("incoming body");
type WithBody = Request & { [INCOMING_BODY]?: IncomingBody };

/** A request body that is under way. */
export class IncomingBody {
  /** True if the answer is given before the whole body was read. */
  isUnread = false;
  readonly #clock: Clock;
  readonly #allowedMs: number;

  constructor(
    clock: Clock,
    /** Milliseconds that the whole body may take. */
    allowedMs: number,
    /** Gives back the room that was reserved; calling it again has no effect. */
    readonly release: () => void,
  ) {
    this.#clock = clock;
    this.#allowedMs = allowedMs;
  }

  /** Runs `expire` once the body has taken too long. Called when its reading begins. */
  startDeadline(expire: () => void): Timer {
    return this.#clock.after(this.#allowedMs, expire);
  }
}

export function setIncomingBody(request: WithBody, body: IncomingBody): void {
  request[INCOMING_BODY] = body;
}

function incomingBodyOf(request: WithBody): IncomingBody | undefined {
  return request[INCOMING_BODY];
}

/** A body that arrived only in part: its sender closed the connection, or took too long. */
export class UnfinishedBody extends Problem {
  constructor() {
    super("invalid_request", "The whole body did not arrive in time.");
  }
}

/**
 * Reads a body of at most 256 KiB of UTF-8, with or without a declared length. Throws
 * `payload_too_large` for a larger one, `invalid_request` for other bytes, and `UnfinishedBody`.
 */
export async function readText(request: Request): Promise<string> {
  return decodeText(await readBytes(request));
}

/** Decodes UTF-8. Throws `invalid_request` for other bytes. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem("invalid_request", "The body is not UTF-8.");
  }
}

/**
 * Reads a body of at most `maxBytes`, with or without a declared length. Throws `payload_too_large` for a
 * larger one and `UnfinishedBody` if the rest does not come in time.
 *
 * The runtime gathers the body, at most `RUNTIME_BODY_MAX_BYTES` of it. Reading `request.body` chunk by
 * chunk would make an object of every chunk, which a sender may make as small as a byte; only the small
 * limit of `readBeginning` bounds the number of chunks.
 */
export async function readBytes(request: Request, maxBytes = BODY_MAX_BYTES): Promise<Uint8Array> {
  const bytes = new Uint8Array(await gather(request, maxBytes));
  if (bytes.byteLength > maxBytes) throw bodyTooLarge(maxBytes);
  return bytes;
}

async function gather(request: Request, maxBytes: number): Promise<ArrayBuffer> {
  const { promise: expiry, reject } = Promise.withResolvers<never>();
  const deadline = incomingBodyOf(request)?.startDeadline(() => reject(new UnfinishedBody()));
  try {
    return await Promise.race([request.arrayBuffer(), expiry]);
  } catch (error) {
    if (error instanceof UnfinishedBody) throw error;
    if (request.signal.aborted) throw new UnfinishedBody();
    // The runtime has already answered 413 and closed the connection.
    if ((error as Error).message.includes("maxRequestBodySize")) throw bodyTooLarge(maxBytes);
    throw error;
  } finally {
    deadline?.cancel();
  }
}

/**
 * Declares that a route reads the first `maxBytes` of a body of any media type and ignores the rest:
 * spread into its options. A slow body counts as ended, an aborted one is an error. With the query
 * parameter `instead`, if it is declared, none is read.
 */
export function beginningOf(maxBytes: number, { instead }: { instead?: string } = {}) {
  return declareBody<Uint8Array>({
    schema: Type.Unsafe({ type: "string" }),
    isOptional: true,
    beginningBytes: maxBytes,
    async read(request) {
      const { query = "" } = splitUrl(request.url) ?? {};
      const isReplaced = instead !== undefined && new URLSearchParams(query).has(instead);
      if (!isReplaced) return readBeginning(request, maxBytes);
      const incoming = incomingBodyOf(request);
      if (incoming) incoming.isUnread = true;
      return NO_BYTES;
    },
  });
}

/**
 * Reads the first `maxBytes` of a body, at most a few thousand, since a sender can make each byte a chunk.
 * Returns the part that has arrived if the sender is too slow. Throws `UnfinishedBody` if the connection
 * is closed before the end or the first `maxBytes` of the body have arrived.
 */
export async function readBeginning(request: Request, maxBytes: number): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return NO_BYTES;
  const incoming = incomingBodyOf(request);
  const cancel = () => {
    if (incoming) incoming.isUnread = true;
    // The connection may already be closed.
    return reader.cancel().catch(() => {});
  };
  const deadline = incoming?.startDeadline(() => void cancel());
  const beginning = new Uint8Array(maxBytes);
  let size = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      beginning.set(value.subarray(0, maxBytes - size), size);
      size += value.byteLength;
      if (size > maxBytes) {
        size = maxBytes;
        await cancel();
        break;
      }
    }
  } catch {
    throw new UnfinishedBody();
  } finally {
    deadline?.cancel();
  }
  return beginning.subarray(0, size);
}
