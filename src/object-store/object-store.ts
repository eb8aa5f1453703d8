import type { Clock } from "../base/clock";
import { objectKeyError } from "../base/ids";

/** A store of objects. Keys are relative paths; each call throws an ObjectStoreError when it fails. */
export interface ObjectStore {
  /** For messages; without secrets. */
  readonly name: string;
  /** Returns an object of at most 64 MiB with its entity tag; undefined if there is none. */
  get(key: string): Promise<{ bytes: Uint8Array; etag: string } | undefined>;
  /**
   * Writes an object into a file while it arrives; returns undefined if there is none. The deadline applies to each
   * wait for more bytes. A file whose download failed is removed.
   */
  download(key: string, file: string): Promise<{ size: number; etag: string } | undefined>;
  /**
   * Writes an object. Resolves to "changed", with nothing written, if a condition was not met. A conditional write is
   * sent once: after an error its effect is unknown.
   */
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<{ etag: string } | "changed">;
  /**
   * Writes an object from a file, in parts of a limited size. It exists once all of it is written. The deadline applies
   * to each part. Ends with an error soon after the signal aborts.
   */
  upload(key: string, file: string, signal?: AbortSignal): Promise<void>;
  /**
   * Returns all objects whose key begins with `prefix` and comes after `startAfter`, in the order of the keys'
   * UTF-8. Keys that `put` would refuse are left out.
   */
  list(prefix: string, startAfter?: string): Promise<StoredObject[]>;
  /**
   * Removes objects; missing ones are ignored. Those that cannot be removed do not keep the others, unless the store
   * does not answer.
   */
  remove(keys: readonly string[]): Promise<void>;
  /** Returns the store's clock minus this machine's in ms, from the newest answer; undefined if it is not known. */
  clockSkewMs(): number | undefined;
}

export interface PutOptions {
  /** Media type. */
  type?: string;
  cacheControl?: string;
  contentEncoding?: string;
  /** Entity tag that the object must have. */
  ifMatch?: string;
  /** Requires that there is no object with this key. */
  ifNoneMatch?: true;
}

export interface StoredObject {
  key: string;
  size: number;
  /** Time of the last write by the store's clock, in unix ms. */
  modifiedAt: number;
}

/** Maximum size of an object that `get` returns, in bytes. */
export const GET_MAX_BYTES = 64 * 1_024 * 1_024;

/** Limit of a request in ms, if none is given. */
export const DEFAULT_DEADLINE_MS = 10_000;

export interface StoreDependencies {
  clock: Clock;
  /** Limit of each request in ms; ten seconds if omitted. */
  deadlineMs?: number;
  /** Certificates (PEM) of authorities that are trusted in addition to those of the runtime. */
  ca?: string | undefined;
}

export type StoreOperation = "read" | "write" | "list" | "remove";

/** Failure of a call. Its message names the store, the operation and the key. */
export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";
  /**
   * "refused" if the store answered with an error, of which `status` is the HTTP status. "unreachable" stands for
   * errors of the network and of the file system.
   */
  readonly kind: "timeout" | "unreachable" | "refused";
  readonly status: number | undefined;

  constructor(kind: ObjectStoreError["kind"], message: string, status?: number) {
    super(message);
    this.kind = kind;
    this.status = status;
  }
}

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
