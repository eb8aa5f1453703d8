/** Returns `size` random bytes. Part of the context, so that tests can repeat a run. */
export type RandomBytes = (size: number) => Uint8Array;

/** Cryptographically secure generator of the operating system. */
export const systemRandom: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size));
