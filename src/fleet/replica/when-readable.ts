import type { Clock } from "../../base/clock";
import type { Signal } from "../../base/signal";
import { SECOND_MS } from "../../base/time";

/** Time for which the port of a replica without data stays closed after its start. */
export const CLOSED_MS = 3 * SECOND_MS;

/**
 * Resolves once a replica can read its data, after three seconds, or when the process is to end. A load balancer sends
 * no visitors to a closed port, but to one that answers 503 until its next health check. `check` throws while the data
 * cannot be read.
 */
export async function whenReadable(
  clock: Clock,
  changed: Pick<Signal<void>, "on">,
  check: () => void,
  stopRequested: Promise<void>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();

  function look(): void {
    try {
      check();
      resolve();
    } catch {
      // The next version may be readable.
    }
  }

  const stop = changed.on(look);
  const timer = clock.after(CLOSED_MS, resolve);
  look();
  try {
    await Promise.race([promise, stopRequested]);
  } finally {
    stop();
    timer.cancel();
  }
}
