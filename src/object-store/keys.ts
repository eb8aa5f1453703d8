import { objectKeyError } from "../base/ids";
import { ObjectStoreError } from "./model";

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

/**
 * Removes objects, some at the same time. One that cannot be removed does not keep the others, unless the store does
 * not answer. Throws the first error once no removal is under way, so that none arrives after a later write.
 */
export async function removeEach(
  keys: readonly string[],
  atOnce: number,
  removeOne: (key: string) => Promise<void>,
): Promise<void> {
  const left = keys.values();
  const errors: unknown[] = [];
  const isSilent = (error: unknown) =>
    error instanceof ObjectStoreError && error.kind === "timeout";
  const work = async () => {
    for (const key of left) {
      await removeOne(key).catch((error: unknown) => errors.push(error));
      if (errors.some(isSilent)) return;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (errors.length > 0) throw errors[0];
}
