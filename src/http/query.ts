import type { TSchema } from "@sinclair/typebox";
import { invalidParameter, type Problem } from "../errors";

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
