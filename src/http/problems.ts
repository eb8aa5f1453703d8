import { isResourceFailure } from "../db/errors";
import { ERRORS, Problem, unavailable } from "../base/errors";
import type { GatewayContext } from "./request-context";
import { splitUrl } from "./request-url";

/** Converts an error to the Problem that the caller gets. Details for the operator's log stay in `cause`. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isResourceFailure(error)) {
    return unavailable("The database cannot answer now; try again.", 5, error);
  }
  return new Problem("internal_error", ERRORS.internal_error.example, { cause: error });
}

/**
 * Returns the result of a write, or the Problem `unavailable` if the database takes no writes now, so that a form
 * can be shown again with what was typed. Throws for other failures.
 */
export async function unlessUnavailable<T>(
  write: Promise<T>,
): Promise<{ result: T } | { unavailable: Problem }> {
  try {
    return { result: await write };
  } catch (error) {
    const failure = toProblem(error);
    if (failure.code !== "unavailable") throw error;
    return { unavailable: failure };
  }
}

/** Returns the listed errors of a problem, and an entry without a pointer that counts the unlisted ones. */
function errorsIn({ fields, unlisted }: Problem): readonly { pointer?: string; detail: string }[] {
  if (unlisted === 0) return fields;
  const more = unlisted.toLocaleString("en");
  const detail = unlisted === 1 ? "1 more field is wrong" : `${more} more fields are wrong`;
  return [...fields, { detail }];
}

/**
 * Returns the answer for a problem (RFC 9457), without the headers of every answer. It names the request by its id,
 * or by its path if a CDN may store the answer.
 */
export function problemResponse(problem: Problem, context: GatewayContext): Response {
  const requestId = context.shownRequestId(problem.status);
  const body = {
    type: `/docs/errors#${problem.code}`,
    title: ERRORS[problem.code].title,
    status: problem.status,
    code: problem.code,
    detail: problem.message,
    instance:
      requestId === undefined ? splitUrl(context.request.url)?.path : `urn:request:${requestId}`,
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
