/** Time in ms after which a condition is taken never to hold. */
const LIMIT_MS = 4 * 60_000;
const PAUSE_MS = 50;

/** Asks again until a condition about other processes holds. Throws if it never does. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (performance.now() < end) {
    if (await holds().catch(() => false)) return;
    await Bun.sleep(PAUSE_MS);
  }
  throw new Error(`it does not hold that ${what}`);
}
