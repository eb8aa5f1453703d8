import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { invalidFields, Problem } from "../base/errors";
import { sha256 } from "../base/hash";
import { isObject, measureJson } from "../base/text";
import { examine, type FieldErrors, type IsInvalidField, type Valid } from "../base/validation";
import {
  declareBody,
  type DeclaredBody,
  decodeUtf8,
  isOfType,
  mediaTypeProblem,
  readBytes,
} from "./body";
import type { RequestContext } from "./request-context";

/** Limit of nesting. No body of the API is that deep; recursive readers stay within the stack. */
const DEPTH_MAX = 32;

/** Limit of fields, nested ones included. No body of the API has as many. Parsing takes 0.5 µs for each. */
const FIELDS_MAX = 24_000;

/** A request whose body violates its schema. */
interface InvalidRequest {
  /** Errors of the body so far, to which further ones are added. */
  errors: FieldErrors;
  /** The id or reference in the path; empty without one. */
  id: string;
  /** All parameters of the path. */
  params: Readonly<Record<string, string>>;
  requestContext: RequestContext;
  isInvalid: IsInvalidField;
}

/**
 * Adds to the errors of the request those that the schema cannot express, for the valid fields of an invalid body. One
 * answer then names every wrong field. It calls the function by which the verb reads a valid body.
 */
type FurtherErrors<Schema extends TSchema> = (
  valid: Partial<Static<Schema>>,
  request: InvalidRequest,
) => void;

/** Declares a route's JSON body: spread into its options. */
export function jsonBody<Schema extends TSchema>(
  schema: Schema,
  furtherErrors?: FurtherErrors<Schema>,
) {
  return declareJson(schema, false, furtherErrors);
}

/** Declares a JSON body that may be left out or empty, which is the same as `{}`. */
export function optionalJsonBody<Schema extends TSchema>(schema: Schema) {
  return declareJson(schema, true);
}

/** Declares that a route takes no body but an empty one or `{}`. */
export function noBody() {
  return optionalJsonBody(NoFields);
}

const NoFields = Type.Object({}, { additionalProperties: false });

function declareJson<Schema extends TSchema>(
  schema: Schema,
  isOptional: boolean,
  furtherErrors?: FurtherErrors<Schema>,
) {
  return declareBody<Valid<Static<Schema>>>({
    schema,
    isOptional,
    read: (request, context) => readJsonBody(request, context, isOptional),
    validate(body, { params, requestContext }) {
      const { errors, valid } = examine(schema, body);
      if (errors.isEmpty) return;
      if (furtherErrors) {
        const isInvalid: IsInvalidField = (field) => errors.concerns(field);
        const invalid = { id: params["id"] ?? "", params, requestContext, errors, isInvalid };
        furtherErrors((valid ?? {}) as Partial<Static<Schema>>, invalid);
      }
      errors.throwIfAny();
    },
  });
}

export const IDEMPOTENCY_KEY = "idempotency-key";

/** Reads a JSON body. Throws a Problem for any other. */
async function readJsonBody(
  request: Request,
  context: RequestContext,
  isOptional: boolean,
): Promise<unknown> {
  const bytes = await readBytes(request, context);
  if (request.headers.has(IDEMPOTENCY_KEY)) context.bodyHash = sha256(bytes);
  const text = decodeUtf8(bytes);
  if (isOptional) {
    if (text.trim() === "") return {};
    const problem = mediaTypeProblem(request.headers);
    if (problem) throw problem;
  }
  return parseJson(text);
}

/**
 * Returns the declaration of a JSON body of any shape and media type, with limits of its own: for programs whose
 * bodies follow no schema of this one.
 */
export function foreignJson(
  schema: TSchema,
  { maxBytes, fieldsMax }: { maxBytes: number; fieldsMax: number },
): DeclaredBody {
  return {
    schema,
    isOptional: false,
    maxBytes,
    isForeign: true,
    read: async (request, context) =>
      parseJson(decodeUtf8(await readBytes(request, context, maxBytes)), fieldsMax),
  };
}

/** Parses JSON. Throws a Problem for other text, and for more than can be parsed in a few milliseconds. */
function parseJson(text: string, fieldsMax = FIELDS_MAX): unknown {
  requireReadable(text, fieldsMax);
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("invalid_request", "The body is not valid JSON.");
  }
}

/** Throws for a body that is nested too deep, or has more fields than can be parsed in a few milliseconds. */
function requireReadable(text: string, fieldsMax: number): void {
  const { depth, fields } = measureJson(text, DEPTH_MAX);
  if (depth > DEPTH_MAX) {
    throw new Problem("invalid_request", `The body nests deeper than ${DEPTH_MAX} levels.`);
  }
  if (fields > fieldsMax) {
    const detail = `has more than ${fieldsMax.toLocaleString("en")} fields in all`;
    throw invalidFields([{ pointer: "#", detail }]);
  }
}

/**
 * Declares a body of at most `maxBytes` that is JSON, or bytes of another media type: spread into the options of
 * a route.
 */
export function jsonOrRawBody<Schema extends TSchema>(
  schema: Schema,
  { mediaType, maxBytes }: { mediaType: string; maxBytes: number },
) {
  return declareBody<Valid<Static<Schema>> | Uint8Array>({
    schema,
    isOptional: false,
    maxBytes,
    rawMediaType: mediaType,
    async read(request, context) {
      const bytes = await readBytes(request, context, maxBytes);
      return isOfType(request.headers, mediaType) ? bytes : parseJson(decodeUtf8(bytes));
    },
    validate(body) {
      if (!(body instanceof Uint8Array)) examine(schema, body).errors.throwIfAny();
    },
  });
}

/** Declares a body of at most `maxBytes` that is one JSON object, whose fields the handler examines. */
export function jsonObjectBody(maxBytes: number) {
  return declareBody<Record<string, unknown>>({
    schema: Type.Object({}),
    isOptional: false,
    maxBytes,
    async read(request, context) {
      const value = parseJson(decodeUtf8(await readBytes(request, context, maxBytes)));
      if (isObject(value)) return value;
      throw new Problem("invalid_request", "The body is not one JSON object. Lists are not read.");
    },
  });
}
