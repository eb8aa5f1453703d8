import type { TSchema } from "@sinclair/typebox";
import { ParseError, ValidationError } from "elysia";
import { isResourceFailure } from "../db/errors";
import { ERRORS, examine, invalidFields, notFound, Problem, unavailable } from "../errors";

/** Converts an error to the Problem that the caller gets. Details for the operator's log stay in `cause`. */
export function toProblem(error: unknown, code: string | number): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof ValidationError) return fromValidation(error);
  if (code === "NOT_FOUND") return notFound("path");
  // Elysia wraps errors of body parsers.
  if (error instanceof ParseError && error.cause instanceof Problem) return error.cause;
  if (isResourceFailure(error)) {
    return unavailable("The database cannot answer now; try again.", 5, error);
  }
  return new Problem("internal_error", ERRORS.internal_error.example, { cause: error });
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

/** Returns the listed errors of a problem, and an entry without a pointer that counts the unlisted ones. */
function errorsIn({ fields, unlisted }: Problem): readonly { pointer?: string; detail: string }[] {
  if (unlisted === 0) return fields;
  const more = unlisted.toLocaleString("en");
  const detail = unlisted === 1 ? "1 more field is wrong" : `${more} more fields are wrong`;
  return [...fields, { detail }];
}

/** Returns the answer for a problem (RFC 9457), without the headers of every answer. */
export function problemResponse(problem: Problem, requestId: string): Response {
  const body = {
    type: `/docs/errors#${problem.code}`,
    title: ERRORS[problem.code].title,
    status: problem.status,
    code: problem.code,
    detail: problem.message,
    instance: `urn:request:${requestId}`,
    ...(problem.fields.length > 0 ? { errors: errorsIn(problem) } : {}),
  };
  return new Response(JSON.stringify(body), {
    status: problem.status,
    headers: {
      ...problem.headers,
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
    },
  });
}
