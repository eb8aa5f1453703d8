/** Time after the first signal in which others count as the same: a terminal and a parent process may both send it. */
const SAME_MS = 250;

/** Returns promises that resolve at the first of these signals, and at a later one. The process does not end by them. */
export function untilSignal(signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"]): {
  first: Promise<void>;
  again: Promise<void>;
} {
  const first = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const received = () => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt >= SAME_MS) again.resolve();
    firstAt ??= now;
    first.resolve();
  };
  for (const signal of signals) process.on(signal, received);
  return { first: first.promise, again: again.promise };
}
