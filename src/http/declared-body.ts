import { Kind, type Static, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { Problem } from "../base/errors";

/** The kind of the schema of a body that is a form. */
export const FORM_KIND = "AllclearForm";

/** Limit of a request body, in bytes. */
export const BODY_MAX_BYTES = 256 * 1024;

const PLAIN_FORM = "application/x-www-form-urlencoded";
const FORM_WITH_FILES = "multipart/form-data";

/** Length of a body as a single header gives it: the runtime joins repeated headers by commas. */
const WHOLE_NUMBER = /^\d+$/;

/** Characters of a Content-Encoding that an error repeats. */
const ENCODING_SHOWN = 40;

/** The body that a route declares. */
export interface DeclaredBody<Schema extends TSchema = TSchema> {
  /** Its schema; for a form, one of the kind `FORM_KIND`. */
  schema: Schema;
  /** Media type that is read as bytes, besides JSON. */
  rawMediaType?: string;
  /** True if a request may leave the body out. */
  isOptional: boolean;
  /** Number of bytes that are read of it, where the rest is ignored; such a body may be of any media type. */
  beginningBytes?: number;
  /** Limit in bytes; `BODY_MAX_BYTES` if omitted. */
  maxBytes?: number;
}

/** Kind of the schema that Elysia gets in place of the declared one. */
const DECLARED_KIND = "AllclearBody";
const Declared = Symbol("declared");

// Elysia's own check is quadratic in the length of a list, and composes a message of all errors.
TypeRegistry.Set(DECLARED_KIND, () => true);

/**
 * Returns the schema given to Elysia: accepts any value, has the static type of the declared schema, and
 * stores the declaration.
 */
export function hideSchema<Schema extends TSchema>(declared: DeclaredBody<Schema>) {
  return Type.Unsafe<Static<Schema>>({ [Kind]: DECLARED_KIND, [Declared]: declared });
}

/** Returns the body that a route's options declare; undefined for a route that reads none. */
export function declaredBodyOf({ body }: { body?: TSchema }): DeclaredBody | undefined {
  if (!body) return undefined;
  const declared = (body as { [Declared]?: DeclaredBody })[Declared];
  if (declared) return declared;
  const maxBytes: unknown = body["maxBytes"];
  return {
    schema: body,
    isOptional: false,
    ...(typeof maxBytes === "number" ? { maxBytes } : {}),
  };
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
  if (!isWhole) return undefined;
  const { schema, rawMediaType } = body;
  if (rawMediaType !== undefined) {
    return isOfType(headers, rawMediaType) || mediaTypeProblem(headers) === undefined
      ? undefined
      : unsupportedMediaType(`${rawMediaType} or application/json`);
  }
  if (schema[Kind] === FORM_KIND) {
    const accepted = formMediaTypes(schema);
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
export function formMediaTypes(schema: TSchema): string[] {
  return schema["takesFiles"] ? [PLAIN_FORM, FORM_WITH_FILES] : [PLAIN_FORM];
}

/** Returns false if the headers say that there is no body. */
export function hasBody(headers: Headers): boolean {
  return isChunked(headers) || (headers.get("content-length") ?? "0") !== "0";
}

/** Returns 400 for a length that is not a whole number, 413 for a declared length over the limit. */
export function bodyLengthProblem(
  headers: Headers,
  { beginningBytes, maxBytes = BODY_MAX_BYTES }: DeclaredBody,
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
export function bodyTooLarge(maxBytes: number = BODY_MAX_BYTES): Problem {
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
