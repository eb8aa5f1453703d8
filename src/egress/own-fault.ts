import type { Clock } from "../kernel/clock";
import { Fault, type FaultKind } from "./fault";

/** A shortage explains failures for this long after it was last seen. */
const EXPLAINS_FOR_MS = 1_000;

/** Faults that a shortage of descriptors causes: the runtime reports them as refused connections. */
const CAUSED: ReadonlySet<FaultKind> = new Set(["dns", "connect", "timeout"]);

const NO_DESCRIPTOR = new Fault("own", "This server has too many open files and connections.");

/**
 * Tells faults of this server from those of others: while no descriptor is free, a failure says nothing
 * about its target.
 */
export function createFaultCheck(clock: Clock, hasFreeDescriptor: () => boolean) {
  let lackedAt = Number.NEGATIVE_INFINITY;

  return async <T>(work: Promise<T | Fault>): Promise<T | Fault> => {
    const outcome = await work;
    if (!(outcome instanceof Fault) || !CAUSED.has(outcome.kind)) return outcome;
    const now = clock.monotonic();
    if (!hasFreeDescriptor()) lackedAt = now;
    return now - lackedAt < EXPLAINS_FOR_MS ? NO_DESCRIPTOR : outcome;
  };
}
