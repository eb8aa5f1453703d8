import { Kind } from "@sinclair/typebox";
import { Problem } from "../errors";
import type { DeclaredBody } from "./declared-body";
import { incomingBodyOf } from "./incoming-body";

/** The kind of the schema of a body that is a form. */
export const FORM_KIND = "AllclearForm";

const PLAIN_FORM = "application/x-www-form-urlencoded";
const FORM_WITH_FILES = "multipart/form-data";

/** Characters of a Content-Encoding that an error repeats. */
const ENCODING_SHOWN = 40;

/** The most that a request's body may weigh. */
export const BODY_MAX_BYTES = 256 * 1024;

/** The most that the runtime reads of a body before it answers 413 by itself. */
export const RUNTIME_BODY_MAX_BYTES = 1024 * 1024;

/** A body of which only a part arrived: its sender closed the connection, or took too long. */
export class UnfinishedBody extends Problem {
  constructor() {
    super("invalid_request", "The whole body did not arrive in time.");
  }
}

/** Returns true if a body comes without a declared length. */
export function isChunked(headers: Headers): boolean {
  return headers.get("transfer-encoding") !== null;
}

/**
 * Returns the problem of a body by its headers alone: 413 for a declared length over the limit, 415 for
 * one that is compressed or not declared as what the route reads. A body of which only the beginning is
 * read may be of any length and media type. A request without a body passes; its schema speaks later.
 */
export function bodyHeadersProblem(headers: Headers, body: DeclaredBody): Problem | undefined {
  const length = headers.get("content-length");
  const isWhole = body.beginningBytes === undefined;
  if (isWhole && length !== null && Number(length) > BODY_MAX_BYTES) return tooLarge();
  const isEmpty = !isChunked(headers) && (length === null || length === "0");
  if (isEmpty) return undefined;
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") return encoded(encoding);
  if (!isWhole) return undefined;
  const { schema } = body;
  if (schema[Kind] === FORM_KIND) {
    const taken = schema["takesFiles"] ? [PLAIN_FORM, FORM_WITH_FILES] : [PLAIN_FORM];
    return taken.includes(mediaTypeOf(headers)) ? undefined : unsupported(taken.join(" or "));
  }
  // A body that may be left out can still turn out to be empty; then it needs no type.
  if (isChunked(headers) && body.isOptional && headers.get("content-type") === null)
    return undefined;
  return mediaTypeProblem(headers);
}

/** Returns 415 for a body that is not declared as JSON; undefined for one that is. */
export function mediaTypeProblem(headers: Headers): Problem | undefined {
  const mediaType = mediaTypeOf(headers);
  const isJson = mediaType === "application/json" || /^application\/[^/]+\+json$/.test(mediaType);
  return isJson ? undefined : unsupported("application/json");
}

/** Returns true if a form's headers allow files. */
export function maySendFiles(headers: Headers): boolean {
  return mediaTypeOf(headers) === FORM_WITH_FILES;
}

function mediaTypeOf(headers: Headers): string {
  return (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/**
 * Reads a body of at most 256 KiB of UTF-8, however it arrives. Throws `payload_too_large` or
 * `invalid_request` for any other.
 */
export async function readText(request: Request): Promise<string> {
  return decodeText(await readBytes(request));
}

/** The text that the bytes of a body are. Throws `invalid_request` for what is not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem("invalid_request", "The body is not UTF-8.");
  }
}

/**
 * Reads a body of at most 256 KiB, however it arrives. Throws `payload_too_large` for a larger one and
 * `UnfinishedBody` where the rest does not come in time.
 *
 * The runtime gathers the body, at most `RUNTIME_BODY_MAX_BYTES` of it. Reading `request.body` chunk by
 * chunk would make an object of every chunk, which a sender may make as small as a byte; only the small
 * limit of `readBeginning` bounds the number of chunks.
 */
export async function readBytes(request: Request): Promise<Uint8Array> {
  const bytes = new Uint8Array(await gather(request));
  if (bytes.byteLength > BODY_MAX_BYTES) throw tooLarge();
  return bytes;
}

/**
 * Reads the first `maxBytes` of a body, at most some thousands, since a sender can make each byte a chunk.
 * Takes the part that has come where the sender goes away or is too slow.
 */
export async function readBeginning(request: Request, maxBytes: number): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const incoming = incomingBodyOf(request);
  const cancel = () => {
    if (incoming) incoming.isUnread = true;
    return reader.cancel();
  };
  const deadline = incoming?.startDeadline(() => void cancel().catch(() => {}));
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
    // The sender has gone away.
  } finally {
    deadline?.cancel();
  }
  return beginning.subarray(0, size);
}

async function gather(request: Request): Promise<ArrayBuffer> {
  const { promise: expiry, reject } = Promise.withResolvers<never>();
  const deadline = incomingBodyOf(request)?.startDeadline(() => reject(new UnfinishedBody()));
  try {
    return await Promise.race([request.arrayBuffer(), expiry]);
  } catch (error) {
    if (error instanceof UnfinishedBody) throw error;
    if (request.signal.aborted) throw new UnfinishedBody();
    // The runtime has told the sender so already, and has closed the connection.
    if ((error as Error).message.includes("maxRequestBodySize")) throw tooLarge();
    throw error;
  } finally {
    deadline?.cancel();
  }
}

function tooLarge(): Problem {
  return new Problem("payload_too_large", `The body is larger than ${BODY_MAX_BYTES} bytes.`);
}

/** 415 for a body that is compressed. The header says what is read instead (RFC 7694). */
function encoded(encoding: string): Problem {
  const detail = `The body is sent with the Content-Encoding ${encoding.slice(0, ENCODING_SHOWN)}. Send it without one: compressed bodies are not read.`;
  return new Problem("unsupported_media_type", detail, {
    headers: { "Accept-Encoding": "identity" },
  });
}

function unsupported(desired: string): Problem {
  return new Problem("unsupported_media_type", `Send the body as ${desired}.`);
}
