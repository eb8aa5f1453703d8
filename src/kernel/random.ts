/** Gives `size` unpredictable bytes. Comes through the context, so that tests can repeat a run. */
export type RandomBytes = (size: number) => Uint8Array;

/** The operating system's cryptographically secure generator. */
export const systemRandom: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size));
