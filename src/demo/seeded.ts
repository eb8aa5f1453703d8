import { crc32, type RandomBytes } from "../base/hash";

/** Returns a fraction from 0 to below 1 that depends only on the parts. */
export type Fraction = (...parts: readonly (string | number)[]) => number;

/** Returns fractions that are equal for equal seeds. */
export function createFraction(seed: string): Fraction {
  return (...parts) => crc32(`${seed}/${parts.join("/")}`) / 2 ** 32;
}

/** Returns bytes that are equal in each run of a seed, for ids. They are no secrets. */
export function createSeededBytes(fraction: Fraction): RandomBytes {
  let drawn = 0;
  return (size) => Uint8Array.from({ length: size }, () => fraction("byte", drawn++) * 256);
}
