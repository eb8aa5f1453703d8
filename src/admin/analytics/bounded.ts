import { Problem } from "../../errors";

/** What is read, or undefined where it would be more than is shown at once. Throws whatever else goes wrong. */
export function unlessTooMuch<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_request") return undefined;
    throw error;
  }
}
