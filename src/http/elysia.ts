import type { TSchema } from "@sinclair/typebox";
import { type AnyElysia, Elysia, ParseError, ValidationError } from "elysia";
import { ERRORS, invalidFields, notFound, Problem } from "../base/errors";
import { examine } from "../base/validation";
import { toProblem } from "./problems";
import { type StoredContexts, storeContexts } from "./request-context";

/** The contexts of the requests under way, for routes that Elysia runs. */
export interface RequestContexts extends StoredContexts {
  /**
   * The plugin that gives handlers their `requestContext`. Throws if Elysia would run the handler of a
   * route other than the authorised one.
   */
  plugin: ReturnType<typeof requestContextPlugin>;
}

export function createRequestContexts(stored: StoredContexts = storeContexts()): RequestContexts {
  return { ...stored, plugin: requestContextPlugin(stored.find) };
}

function requestContextPlugin(find: StoredContexts["find"]) {
  return new Elysia({ name: "request-context" }).derive({ as: "scoped" }, ({ request, route }) => {
    const requestContext = find(request);
    if (requestContext?.route?.path !== route) {
      throw new Error(`the gateway did not authorise this request to ${route}`);
    }
    if (requestContext.route.body) requestContext.confirm();
    return { requestContext };
  });
}

/** Creates an application without routes. It runs behind the gateway, which writes its errors. */
export function createElysia({ find }: StoredContexts): AnyElysia {
  return new Elysia({
    // Unknown fields are rejected, since dropping them would hide a caller's typing errors.
    normalize: false,
    // The gateway decides about a slash at the end, and passes none. Loose paths would make the routes load 10 ms later.
    strictPath: true,
    // Otherwise Elysia reads the path from the URL's eleventh character on, even if the host is longer.
    handler: { standardHostname: false },
  }).onError({ as: "global" }, ({ error, code, request }) => {
    const requestContext = find(request);
    if (requestContext) requestContext.failure ??= problemOf(error, code);
    return new Response(null, { status: 500 });
  });
}

/** Converts an error that Elysia caught. */
function problemOf(error: unknown, code: string | number): Problem {
  if (error instanceof ValidationError) return fromValidation(error);
  // Elysia wraps errors of body parsers.
  if (error instanceof ParseError && error.cause instanceof Problem) return error.cause;
  return code === "NOT_FOUND" ? notFound("path") : toProblem(error);
}

function fromValidation(error: ValidationError): Problem {
  // The validator is the schema, or a compiled check with a schema that the types omit.
  const { schema = error.validator } = error.validator as { schema?: TSchema };
  const { all: fields, unlisted } = examine(schema as TSchema, error.value).errors;
  if (error.type === "body") return invalidFields(fields, unlisted);
  if (error.type === "query") {
    const [first] = fields;
    const name = first?.pointer.slice(2) ?? "";
    return new Problem("invalid_request", `The query parameter ${name} ${first?.detail}.`, {
      fields,
      unlisted,
    });
  }
  return new Problem("internal_error", ERRORS.internal_error.example, { cause: error });
}
