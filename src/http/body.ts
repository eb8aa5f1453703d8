/*
 * Bodies of requests: what a route declares, what headers promise, reading within limits, and the memory that bodies
 * under way may take.
 */
import type { TSchema, TUnsafe } from "@sinclair/typebox";
import { type ClientAddress, siteOf } from "../base/client-address";
import type { Clock } from "../base/clock";
import { Problem, unavailable } from "../base/errors";
import { queryOf, type RequestContext } from "./request-context";

/** Limit of a request body, in bytes. */
export const BODY_MAX_BYTES = 256 * 1024;

/** Limit of a form, in bytes, whose fields are kept while its user signs in again. */
export const KEPT_FORM_MAX_BYTES = 64 * 1024;

const PLAIN_FORM = "application/x-www-form-urlencoded";
const FORM_WITH_FILES = "multipart/form-data";

/** Length of a body as a single header gives it: the runtime joins repeated headers by commas. */
const WHOLE_NUMBER = /^\d+$/;

/** Characters of a Content-Encoding that an error repeats. */
const ENCODING_SHOWN = 40;

/** Limits of a body. */
export interface BodyLimits {
  /** Number of bytes that are read of it, where the rest is ignored; such a body may be of any media type. */
  beginningBytes?: number;
  /** Limit in bytes; `BODY_MAX_BYTES` if omitted. */
  maxBytes?: number;
  /** True for a body of any media type, whose senders repeat it only after a 503. */
  isForeign?: true;
}

/** The body that a route declares. */
export interface DeclaredBody extends BodyLimits {
  /** Schema of JSON. Fields of a form are declared by the operation, and a beginning is any text. */
  schema?: TSchema;
  /** Set for a form, whose screen shows each error at its field. */
  form?: { takesFiles: boolean };
  /** Media type that is read as bytes, besides JSON. */
  rawMediaType?: string;
  /** True if a request may leave the body out. */
  isOptional: boolean;
  /** Reads the body of a request. Rejects with a Problem for one that cannot be read. */
  read(request: Request, context: RequestContext): Promise<unknown>;
  /** Returns the body that is read of some callers instead; undefined for the others. */
  ofCaller?(context: Pick<RequestContext, "caller">): DeclaredBody | undefined;
  /** Throws `validation_failed` for a body that was read and has invalid fields. */
  validate?(body: unknown, call: BodyCall): void;
}

/** Context of a request whose body is read. */
type UnderWay = Pick<RequestContext, "body">;

/** Request whose body is validated. */
interface BodyCall {
  /** Parameters of the path. */
  params: Readonly<Record<string, string>>;
  requestContext: RequestContext;
}

const Declared = Symbol("declared");

/** Returns the option of a route that declares a body, which handlers get as a `Value`. */
export function declareBody<Value>(declared: DeclaredBody): { body: TUnsafe<Value> } {
  // An object of its own: TypeBox, whose schemas Elysia types, is loaded after health checks are answered.
  return { body: { [Declared]: declared } as unknown as TUnsafe<Value> };
}

/**
 * Returns the body that a route's options declare; undefined for a route that reads none. Throws for a schema that
 * nothing reads.
 */
export function declaredBodyOf(options: { body?: TSchema }): DeclaredBody | undefined {
  if (!options.body) return undefined;
  const declared = (options.body as { [Declared]?: DeclaredBody })[Declared];
  if (!declared) throw new Error("declare bodies by jsonBody, formBody and the like");
  return declared;
}

/** Returns true if a body comes without a declared length. */
export function isChunked(headers: Headers): boolean {
  return headers.get("transfer-encoding") !== null;
}

/**
 * Returns the problem of a body by its headers alone: 400 for a length that is not a whole number, 413
 * for a declared length over the limit, 415 for a body that is compressed or of a media type that the
 * route does not read. A body that is read only in part may be of any length and media type.
 * A missing body is left to the schema.
 */
export function bodyHeadersProblem(headers: Headers, body: DeclaredBody): Problem | undefined {
  const problem = bodyLengthProblem(headers, body);
  if (problem || !hasBody(headers)) return problem;
  const isWhole = body.beginningBytes === undefined;
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") return unsupportedEncoding(encoding);
  if (!isWhole || body.isForeign) return undefined;
  const { form, rawMediaType } = body;
  if (rawMediaType !== undefined) {
    return isOfType(headers, rawMediaType) || mediaTypeProblem(headers) === undefined
      ? undefined
      : unsupportedMediaType(`${rawMediaType} or application/json`);
  }
  if (form) {
    const accepted = formMediaTypes(form);
    return accepted.includes(mediaTypeOf(headers))
      ? undefined
      : unsupportedMediaType(accepted.join(" or "));
  }
  // A chunked body may turn out to be empty. If it may be left out, it then needs no media type.
  if (isChunked(headers) && body.isOptional && headers.get("content-type") === null) {
    return undefined;
  }
  return mediaTypeProblem(headers);
}

/** Returns the media types in which a form may be sent. */
export function formMediaTypes({ takesFiles }: { takesFiles: boolean }): string[] {
  return takesFiles ? [PLAIN_FORM, FORM_WITH_FILES] : [PLAIN_FORM];
}

/** Returns false if the headers say that there is no body. */
export function hasBody(headers: Headers): boolean {
  return isChunked(headers) || (headers.get("content-length") ?? "0") !== "0";
}

/** Returns 400 for a length that is not a whole number, 413 for a declared length over the limit. */
export function bodyLengthProblem(
  headers: Headers,
  { beginningBytes, maxBytes = BODY_MAX_BYTES }: BodyLimits,
): Problem | undefined {
  const length = headers.get("content-length");
  if (length === null) return undefined;
  if (!WHOLE_NUMBER.test(length)) return unreadableLength();
  const isOver = beginningBytes === undefined && Number(length) > maxBytes;
  return isOver ? bodyTooLarge(maxBytes) : undefined;
}

/** Returns 415 for a body that is not declared as JSON; undefined for one that is. */
export function mediaTypeProblem(headers: Headers): Problem | undefined {
  const mediaType = mediaTypeOf(headers);
  const isJson = mediaType === "application/json" || /^application\/[^/]+\+json$/.test(mediaType);
  return isJson ? undefined : unsupportedMediaType("application/json");
}

/** Returns true if a form's headers allow files. */
export function canSendFiles(headers: Headers): boolean {
  return mediaTypeOf(headers) === FORM_WITH_FILES;
}

/** Returns true if a body is declared to be of a media type. */
export function isOfType(headers: Headers, mediaType: string): boolean {
  return mediaTypeOf(headers) === mediaType;
}

function mediaTypeOf(headers: Headers): string {
  return (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Returns 400 for a Content-Length from which the length is not certain (RFC 9112). */
function unreadableLength(): Problem {
  return new Problem(
    "invalid_request",
    "The Content-Length header is not a whole number, or was sent twice.",
    { headers: { Connection: "close" } },
  );
}

/** Returns 413 for a body over the limit. */
function bodyTooLarge(maxBytes: number = BODY_MAX_BYTES): Problem {
  return new Problem("payload_too_large", `The body is larger than ${maxBytes} bytes.`);
}

/** Returns 415 for a compressed body. The header names the accepted encoding (RFC 7694). */
function unsupportedEncoding(encoding: string): Problem {
  const detail = `The body is sent with the Content-Encoding ${encoding.slice(0, ENCODING_SHOWN)}. Send it without one: compressed bodies are not read.`;
  return new Problem("unsupported_media_type", detail, {
    headers: { "Accept-Encoding": "identity" },
  });
}

function unsupportedMediaType(accepted: string): Problem {
  return new Problem("unsupported_media_type", `Send the body as ${accepted}.`);
}

/** Bytes of a body that the runtime reads before it answers 413 by itself. */
export const RUNTIME_BODY_MAX_BYTES = 1024 * 1024;

const NO_BYTES = new Uint8Array();

/** A body that arrived only in part: its sender closed the connection, or took too long. */
export class UnfinishedBody extends Problem {
  constructor() {
    super("invalid_request", "The whole body did not arrive in time.");
  }
}

/** Decodes UTF-8. Throws `invalid_request` for other bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
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
export async function readBytes(
  request: Request,
  context: UnderWay,
  maxBytes = BODY_MAX_BYTES,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(await gather(request, context, maxBytes));
  if (bytes.byteLength > maxBytes) throw bodyTooLarge(maxBytes);
  return bytes;
}

async function gather(
  request: Request,
  { body }: UnderWay,
  maxBytes: number,
): Promise<ArrayBuffer> {
  const { promise: expiry, reject } = Promise.withResolvers<never>();
  const deadline = body?.startDeadline(() => reject(new UnfinishedBody()));
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
 * parameter `instead`, if it is declared, none is read. `ofCaller` returns the body that is read of some callers
 * instead, which handlers get as `Other`.
 */
export function beginningOf<Other = never>(
  maxBytes: number,
  { instead, ofCaller }: { instead?: string; ofCaller?: DeclaredBody["ofCaller"] } = {},
) {
  return declareBody<Uint8Array | Other>({
    ...(ofCaller && { ofCaller }),
    isOptional: true,
    beginningBytes: maxBytes,
    async read(request, context) {
      const isReplaced = instead !== undefined && queryOf(request).has(instead);
      if (!isReplaced) return readBeginning(request, context, maxBytes);
      if (context.body) context.body.isUnread = true;
      return NO_BYTES;
    },
  });
}

/**
 * Reads the first `maxBytes` of a body, at most a few thousand, since a sender can make each byte a chunk.
 * Returns the part that has arrived if the sender is too slow. Throws `UnfinishedBody` if the connection
 * is closed before the end or the first `maxBytes` of the body have arrived.
 */
export async function readBeginning(
  request: Request,
  { body }: UnderWay,
  maxBytes: number,
): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return NO_BYTES;
  const cancel = () => {
    if (body) body.isUnread = true;
    // The connection may already be closed.
    return reader.cancel().catch(() => {});
  };
  const deadline = body?.startDeadline(() => void cancel());
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

const MEBIBYTE = 1024 * 1024;
const SITE_BYTES = 8 * MEBIBYTE;
const SITE_SMALL_BYTES = 4 * MEBIBYTE;
const ANONYMOUS_BYTES = 2 * MEBIBYTE;
const ANONYMOUS_SMALL_BYTES = MEBIBYTE;
const ALL_SITES_BYTES = 128 * MEBIBYTE;

/** Part of `ALL_SITES_BYTES` for bodies without credentials. */
const ALL_ANONYMOUS_BYTES = 32 * MEBIBYTE;

/** Largest declared size of a small body. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Least bytes of a body, since its request takes memory too. */
const MIN_COUNTED_BYTES = 4 * 1024;

/** Milliseconds that any body may take, however small it is. */
const BASE_MS = { anonymous: 10_000, identified: 30_000 };

/** Milliseconds after which the beginning of a body is taken as far as it has arrived. */
const BEGINNING_MS = 10_000;

/** Additional milliseconds per byte: 16 KiB a second. */
const MS_PER_BYTE = 1_000 / (16 * 1024);

/** Bounds the memory of request bodies that are under way. */
export interface BodyBudget {
  /**
   * Reserves room for the body of a request and limits its time. Returns a Problem if the site of the
   * client, or all sites together, have no room left.
   */
  reserve(context: RequestContext, body: BodyLimits): Problem | undefined;
}

/**
 * Per site (IPv4 address or IPv6 /48): 8 MiB of bodies with credentials and 2 MiB without, so that
 * neither keep the other out. Small bodies have room of their own, 4 MiB and 1 MiB: a form passes while
 * large or unbounded bodies are under way. All sites together: 128 MiB of bodies that are not small,
 * of which those without credentials may have 32 MiB.
 */
export function createBodyBudget(clock: Clock): BodyBudget {
  const identified = { small: createRoom(SITE_SMALL_BYTES), large: createRoom(SITE_BYTES) };
  const anonymous = {
    small: createRoom(ANONYMOUS_SMALL_BYTES),
    large: createRoom(ANONYMOUS_BYTES),
  };

  /** Returns a function that gives the room back, and may be called again; undefined without room. */
  function reserveRoom(address: ClientAddress, bytes: number, isAnonymous: boolean) {
    const { small, large } = isAnonymous ? anonymous : identified;
    if (bytes <= SMALL_BODY_BYTES) return small.reserve(siteOf(address), bytes);
    const total = identified.large.bytes + anonymous.large.bytes + bytes;
    if (total > ALL_SITES_BYTES) return undefined;
    if (isAnonymous && large.bytes + bytes > ALL_ANONYMOUS_BYTES) return undefined;
    return large.reserve(siteOf(address), bytes);
  }

  return {
    reserve(context, body) {
      const { request, caller } = context;
      const bytes = countedBytes(request.headers, body);
      if (bytes === 0) return undefined;
      const isAnonymous = caller.kind === "address";
      const release = reserveRoom(context.address, bytes, isAnonymous);
      // A provider unsubscribes people from few addresses, and repeats a request only after a 503.
      if (!release)
        return caller.kind === "link" || body.isForeign ? overloaded() : tooManyBodies();
      const ms = allowedMs(bytes, body, isAnonymous);
      const startDeadline = (expire: () => void) => clock.after(ms, expire);
      context.body = { isUnread: false, release, startDeadline };
      return undefined;
    },
  };
}

/** Counts bytes under way, at most `siteBytes` per site. */
function createRoom(siteBytes: number) {
  // Sites without bytes have no entry.
  const bySite = new Map<string, number>();
  const room = {
    /** Bytes of all sites. */
    bytes: 0,
    /** Returns undefined without room. Throws for a number that cannot be counted, such as NaN. */
    reserve(site: string, bytes: number): (() => void) | undefined {
      if (!Number.isFinite(bytes) || bytes <= 0)
        throw new Error(`a body cannot have the length ${bytes}`);
      if ((bySite.get(site) ?? 0) + bytes > siteBytes) return undefined;
      add(site, bytes);
      let isReserved = true;
      return () => {
        if (isReserved) add(site, -bytes);
        isReserved = false;
      };
    },
  };

  function add(site: string, bytes: number): void {
    const left = (bySite.get(site) ?? 0) + bytes;
    if (left > 0) bySite.set(site, left);
    else bySite.delete(site);
    room.bytes += bytes;
  }

  return room;
}

/**
 * Returns the bytes for which room is reserved; 0 without a body. Without a declared length, a body counts
 * as the most that the runtime reads of one. A body that is read only in part is small.
 */
function countedBytes(headers: Headers, { beginningBytes }: BodyLimits): number {
  const max = beginningBytes === undefined ? RUNTIME_BODY_MAX_BYTES : SMALL_BODY_BYTES;
  if (isChunked(headers)) return max;
  const length = Number(headers.get("content-length") ?? 0);
  return length === 0 ? 0 : Math.min(max, Math.max(length, MIN_COUNTED_BYTES));
}

/** Returns the milliseconds that a body with `bytes` of reserved room may take. */
function allowedMs(bytes: number, body: BodyLimits, isAnonymous: boolean): number {
  if (body.beginningBytes !== undefined) return BEGINNING_MS;
  const maxBytes = Math.min(bytes, body.maxBytes ?? BODY_MAX_BYTES);
  return (isAnonymous ? BASE_MS.anonymous : BASE_MS.identified) + Math.ceil(maxBytes * MS_PER_BYTE);
}

function tooManyBodies(): Problem {
  return new Problem(
    "rate_limited",
    "The server is receiving too many request bodies. Try again in 1 second.",
    { headers: { "Retry-After": "1" } },
  );
}

function overloaded(): Problem {
  return unavailable("The server is receiving too many request bodies; try again.", 1);
}
