import { settle } from "./clock";

/** Longest wait in ms, after which the condition is taken never to hold. */
const WAIT_MAX_MS = 4 * 60_000;

/** Lets the event loop turn until a condition holds, such as one about files. Throws if it never does. */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + WAIT_MAX_MS;
  while (!holds()) {
    if (performance.now() > end) throw new Error("the condition does not hold");
    await settle();
  }
}
