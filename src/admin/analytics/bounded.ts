import { Problem } from "../../errors";

/**
 * Returns the result of `read`; undefined if the result would exceed the limit of a query. Other
 * errors are rethrown.
 */
export function unlessTooMuch<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_request") return undefined;
    throw error;
  }
}
