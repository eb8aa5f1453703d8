import { objectKeyError } from "../domain/object-key";

/** Returns a key. Throws if it is invalid below `base`, which is an error of the caller. */
export function requireKey(key: string, base = ""): string {
  const error = objectKeyError(key) ?? objectKeyError(`${base}${key}`);
  if (error !== undefined) throw new Error(`A key ${error}: ${JSON.stringify(key)}`);
  return key;
}

/** Compares keys by their UTF-8, as S3 orders them. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
