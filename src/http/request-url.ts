import type { TSchema } from "@sinclair/typebox";
import { invalidParameter, Problem } from "../errors";
import { containsKeyShape } from "../domain/key-shape";

/**
 * Returns the problem of a query that gives a declared parameter more than once: readers would differ in
 * which value counts. Parameters that the route does not declare are not looked at.
 */
export function repeatedParameterProblem(
  declared: TSchema | undefined,
  query: string,
): Problem | undefined {
  if (query === "" || declared === undefined) return undefined;
  const names = declared["properties"] as Record<string, unknown>;
  const seen = new Set<string>();
  for (const name of new URLSearchParams(query).keys()) {
    if (!Object.hasOwn(names, name)) continue;
    if (seen.has(name)) return invalidParameter(name, "is given more than once");
    seen.add(name);
  }
  return undefined;
}

/** Returns 400 for a query string that holds a key or asks to be read for one: it would end up in logs. */
export function queryProblem(query: string): Problem | undefined {
  if (query === "") return undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === "access_token" || containsKeyShape(value) || containsKeyShape(name)) {
      return new Problem(
        "invalid_request",
        "An API key does not belong in the query string, where logs keep it. Send it in the Authorization header, and rotate it if it is a real one.",
      );
    }
  }
  return undefined;
}
