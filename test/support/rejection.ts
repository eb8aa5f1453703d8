import { Problem } from "../../src/base/errors";

/** Returns the Problem of a rejected change. Throws if the change succeeds. */
export async function rejectionOf(change: Promise<unknown>): Promise<Problem> {
  try {
    await change;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("the change was let through");
}
