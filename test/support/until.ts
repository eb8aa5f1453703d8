import { settle } from "./clock";

/** Maximum number of turns. Reading or removing a file takes a few. */
const TURNS_MAX = 10_000;

/** Lets the event loop turn until a condition holds, such as one about files. Throws if it never does. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    if (holds()) return;
    await settle();
  }
  throw new Error("the condition does not hold");
}
