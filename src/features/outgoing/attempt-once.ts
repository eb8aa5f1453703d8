import type { Ctx } from "../../context";

/** Attempt to send something: the id of the delivery or mail, and the number of the attempt, from 1. */
interface AttemptName {
  id: string;
  attempt: number;
}

/**
 * Sends something, or returns the outcome that an earlier primary noted and could not store. `outcomeOf` returns what is
 * noted: undefined for a result that does not count. One without a noted outcome is sent again.
 */
export async function attemptOnce<T>(
  { attempts }: Ctx,
  { id, attempt }: AttemptName,
  send: () => Promise<T>,
  outcomeOf: (result: T) => object | undefined,
): Promise<T> {
  if (!attempts) return send();
  const earlier = await attempts.begin(id, attempt);
  if (earlier !== undefined) return earlier as T;
  const result = await send();
  const outcome = outcomeOf(result);
  if (outcome) await attempts.end(id, attempt, outcome);
  return result;
}
