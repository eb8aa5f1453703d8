import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { examine, type FieldErrors, invalidFields, type IsBroken, Problem } from "../errors";
import type { RequestContext } from "./request-context";
import { decodeText, mediaTypeProblem, readBytes } from "./body";
import { keepBodyHash } from "./body-hash";
import { hideSchema } from "./declared-body";

/** Deeper nesting than any body of the API has; it keeps recursive readers off hostile input. */
const DEPTH_MAX = 32;

/** More fields than any body of the API has, those of its objects included. Parsing takes 0.5 µs for each. */
const FIELDS_MAX = 24_000;

/** The request whose body breaks its schema. */
export interface RefusedRequest {
  /** The id or reference in the path; empty without one. */
  id: string;
  /** All parameters of the path. */
  params: Readonly<Record<string, string>>;
  requestContext: RequestContext;
  isBroken: IsBroken;
}

/**
 * Returns errors that the schema cannot express, for the valid fields of an invalid body. One answer then
 * names every wrong field. Of a valid body the service finds these errors.
 */
export type FurtherErrors<Schema extends TSchema> = (
  valid: Partial<Static<Schema>>,
  request: RefusedRequest,
) => FieldErrors;

/**
 * Declares a route's JSON body: spread into its options. The reading is declared with each route that
 * has a body, since one parser for all would make Elysia run the routes without one asynchronously.
 */
export function jsonBody<Schema extends TSchema>(
  schema: Schema,
  furtherErrors?: FurtherErrors<Schema>,
) {
  return declareBody(schema, false, furtherErrors);
}

/** Declares a JSON body that may be left out or empty, which is the same as `{}`. */
export function optionalJsonBody<Schema extends TSchema>(schema: Schema) {
  return declareBody(schema, true);
}

/** Declares that a route takes no body but an empty one or `{}`. */
export function noBody() {
  return optionalJsonBody(NoFields);
}

const NoFields = Type.Object({}, { additionalProperties: false });

function declareBody<Schema extends TSchema>(
  schema: Schema,
  isOptional: boolean,
  furtherErrors?: FurtherErrors<Schema>,
) {
  return {
    body: hideSchema({ schema, isOptional }),
    parse: ({ request }: { request: Request }) => readJsonBody(request, isOptional),
    beforeHandle({ body, params = {}, requestContext }: BodyContext): void {
      const { errors, valid } = examine(schema, body);
      if (errors.isEmpty) return;
      if (furtherErrors) {
        const isBroken: IsBroken = (field) =>
          errors.all.some(({ pointer }) => pointer.split("/", 2)[1] === field);
        const fields = (valid ?? {}) as Partial<Static<Schema>>;
        errors.addMissing(
          furtherErrors(fields, { id: params["id"] ?? "", params, requestContext, isBroken }),
        );
      }
      errors.throwIfAny();
    },
  };
}

interface BodyContext {
  body: unknown;
  /** Undefined on a path without parameters. */
  params?: Record<string, string>;
  requestContext: RequestContext;
}

/** Reads a JSON body. Throws a Problem for any other. */
async function readJsonBody(request: Request, isOptional: boolean): Promise<unknown> {
  const bytes = await readBytes(request);
  keepBodyHash(request, bytes);
  const text = decodeText(bytes);
  if (isOptional) {
    if (text.trim() === "") return {};
    const problem = mediaTypeProblem(request.headers);
    if (problem) throw problem;
  }
  requireReadable(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("invalid_request", "The body is not valid JSON.");
  }
}

/**
 * Throws for a body that nests too deep, or has more fields than can be parsed in a few milliseconds.
 * Counts brackets and colons outside strings, without recursion.
 */
function requireReadable(text: string): void {
  let depth = 0;
  let fields = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (isInString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) isInString = false;
    } else if (char === 0x22) isInString = true;
    else if (char === 0x3a) fields += 1;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > DEPTH_MAX) {
        throw new Problem("invalid_request", `The body nests deeper than ${DEPTH_MAX} levels.`);
      }
    } else if (char === 0x5d || char === 0x7d) depth -= 1;
  }
  if (fields > FIELDS_MAX) {
    const detail = `has more than ${FIELDS_MAX.toLocaleString("en")} fields in all`;
    throw invalidFields([{ pointer: "#", detail }]);
  }
}
