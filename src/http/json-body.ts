import type { TSchema } from "@sinclair/typebox";
import { Problem } from "../errors";

/** The most that a request's body may weigh. */
export const BODY_MAX_BYTES = 256 * 1024;

/** Deeper nesting than any body of the API has; it keeps recursive readers off hostile input. */
const DEPTH_MAX = 32;

/**
 * What can be said of a body by its headers alone: 413 for a declared length over the limit, 415 for
 * a body that is not declared as JSON. A request without a body passes; its schema speaks later.
 */
export function judgeBodyHeaders(headers: Headers): Problem | undefined {
  const length = headers.get("content-length");
  if (length !== null && Number(length) > BODY_MAX_BYTES) return tooLarge();
  const isEmpty = headers.get("transfer-encoding") === null && (length === null || length === "0");
  if (isEmpty) return undefined;
  const mediaType = (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType === "application/json" || /^application\/[^/]+\+json$/.test(mediaType)) {
    return undefined;
  }
  return new Problem("unsupported_media_type", "Send the body as application/json.");
}

/**
 * Declares a route's JSON body: spread into its options. The reading is declared with each route that
 * has a body, since one parser for all would make Elysia run the routes without one asynchronously.
 */
export function jsonBody<Schema extends TSchema>(schema: Schema) {
  return {
    body: schema,
    parse: ({ request }: { request: Request }) => readJsonBody(request),
  };
}

/** Reads a JSON body of at most 256 KiB, however it arrives. Throws a Problem for any other. */
async function readJsonBody(request: Request): Promise<unknown> {
  const bytes = await readCapped(request);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem("invalid_request", "The body is not UTF-8.");
  }
  if (nestsTooDeep(text)) {
    throw new Problem("invalid_request", `The body nests deeper than ${DEPTH_MAX} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("invalid_request", "The body is not valid JSON.");
  }
}

async function readCapped(request: Request): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > BODY_MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Counts brackets outside strings, without recursion. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (isInString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) isInString = false;
    } else if (char === 0x22) isInString = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > DEPTH_MAX) return true;
    } else if (char === 0x5d || char === 0x7d) depth -= 1;
  }
  return false;
}

function tooLarge(): Problem {
  return new Problem("payload_too_large", `The body is larger than ${BODY_MAX_BYTES} bytes.`);
}
