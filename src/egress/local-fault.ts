import type { Clock } from "../kernel/clock";
import { NO_DESCRIPTOR_LEFT } from "../kernel/descriptors";
import { Fault, type FaultKind } from "./fault";

/** Time for which a shortage explains failures after it was last seen. */
const EXPLAINS_FOR_MS = 1_000;

/** Faults that a shortage of descriptors causes: the runtime reports them as refused connections. */
const CAUSED_BY_SHORTAGE: ReadonlySet<FaultKind> = new Set(["dns", "connect", "timeout"]);

const NO_DESCRIPTOR = new Fault("local", NO_DESCRIPTOR_LEFT);

/** Replaces faults that a shortage of descriptors explains: they say nothing about their target. */
export function createLocalFaultDetector(clock: Clock, hasFreeDescriptor: () => boolean) {
  let lackedAt = Number.NEGATIVE_INFINITY;

  return async <T>(work: Promise<T | Fault>): Promise<T | Fault> => {
    const outcome = await work;
    if (!(outcome instanceof Fault) || !CAUSED_BY_SHORTAGE.has(outcome.kind)) return outcome;
    const now = clock.monotonic();
    if (!hasFreeDescriptor()) lackedAt = now;
    return now - lackedAt < EXPLAINS_FOR_MS ? NO_DESCRIPTOR : outcome;
  };
}
