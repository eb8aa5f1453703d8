import { Problem } from "../../src/errors";

/** The Problem that a change was refused with. Throws where it was let through. */
export async function rejectionOf(change: Promise<unknown>): Promise<Problem> {
  try {
    await change;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("the change was let through");
}
