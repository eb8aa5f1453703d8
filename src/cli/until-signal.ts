/** Resolves at the first of these signals. */
export function untilSignal(
  signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"],
): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}
