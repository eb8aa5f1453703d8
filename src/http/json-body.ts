import { Kind, type Static, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { examine, type FieldErrors, Problem } from "../errors";
import { type DeclaredBody, decodeText, mediaTypeProblem, readBytes } from "./body";
import { keepBodyHash } from "./body-hash";

/** Deeper nesting than any body of the API has; it keeps recursive readers off hostile input. */
const DEPTH_MAX = 32;

/** The kind of the schema that Elysia gets in place of a JSON body's own. */
const JSON_KIND = "AllclearJson";
const Declared = Symbol("declared");

// Elysia's check is quadratic in a list, and the message of its error is made from all that is wrong.
TypeRegistry.Set(JSON_KIND, () => true);

/**
 * Returns the errors that a body's schema cannot see, such as references to what does not exist. Gets
 * the fields that are valid by the schema, and the parameters of the path. Runs only for a body that is
 * refused anyway: it completes the list.
 */
export type FurtherErrors<Schema extends TSchema> = (
  valid: Partial<Static<Schema>>,
  params: Readonly<Record<string, string>>,
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

/** Returns the body that a route's options declare; undefined for a route that reads none. */
export function declaredBodyOf({ body }: { body?: TSchema }): DeclaredBody | undefined {
  if (!body) return undefined;
  const declared = (body as { [Declared]?: DeclaredBody })[Declared];
  return declared ?? { schema: body, isOptional: false };
}

function declareBody<Schema extends TSchema>(
  schema: Schema,
  isOptional: boolean,
  furtherErrors?: FurtherErrors<Schema>,
) {
  const declared: DeclaredBody = { schema, isOptional };
  return {
    body: Type.Unsafe<Static<Schema>>({ [Kind]: JSON_KIND, [Declared]: declared }),
    parse: ({ request }: { request: Request }) => readJsonBody(request, isOptional),
    beforeHandle({ body, params }: { body: unknown; params: Record<string, string> }): void {
      const { errors, valid } = examine(schema, body);
      if (errors.isEmpty) return;
      if (furtherErrors)
        errors.addMissing(furtherErrors((valid ?? {}) as Partial<Static<Schema>>, params));
      errors.throwIfAny();
    },
  };
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
  if (nestsTooDeep(text)) {
    throw new Problem("invalid_request", `The body nests deeper than ${DEPTH_MAX} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("invalid_request", "The body is not valid JSON.");
  }
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
