import { type LeaderStore, signRecords } from "../../../src/fleet/leader";
import { ObjectStoreError, type PutOptions } from "../../../src/object-store/object-store";
import { FLEET_SECRET } from "./nodes";

/** A store in memory that a test stops, and in which it loses answers. */
export interface MemoryStore extends LeaderStore {
  objects: Map<string, { bytes: Uint8Array; etag: string }>;
  /** True while no request is answered. */
  isDown: boolean;
  /** True while writes are stored, but their answers are lost. */
  losesAnswers: boolean;
  /** Waits before each answer; undefined to answer at once. */
  hold: (() => Promise<void>) | undefined;
  /** Returns the text of an object. */
  text(key: string): string;
  /** Number of requests of each kind. */
  counts: { get: number; put: number };
}

type Signing = Pick<LeaderStore, "signingKey" | "newestTerm">;

export function createMemoryStore(): MemoryStore {
  const objects: MemoryStore["objects"] = new Map();
  let version = 0;
  const timeout = () => new ObjectStoreError("timeout", "The store memory did not answer.");

  async function answer(): Promise<void> {
    await store.hold?.();
    if (store.isDown) throw timeout();
  }

  const isMet = (key: string, { ifMatch, ifNoneMatch }: PutOptions) => {
    const etag = objects.get(key)?.etag;
    return ifMatch !== undefined ? etag === ifMatch : !ifNoneMatch || etag === undefined;
  };

  const store: MemoryStore = signRecords<Omit<MemoryStore, keyof Signing>>(
    {
      name: "memory",
      objects,
      isDown: false,
      losesAnswers: false,
      hold: undefined,
      text: (key) => new TextDecoder().decode(objects.get(key)?.bytes),
      counts: { get: 0, put: 0 },
      async get(key) {
        store.counts.get += 1;
        await answer();
        return objects.get(key);
      },
      async download() {
        throw new Error("not needed");
      },
      async upload() {
        throw new Error("not needed");
      },
      async put(key, bytes, options = {}) {
        store.counts.put += 1;
        await answer();
        if (!isMet(key, options)) return "changed";
        version += 1;
        const etag = `"${version}"`;
        objects.set(key, { bytes, etag });
        if (store.losesAnswers) throw timeout();
        return { etag };
      },
      async list(prefix, startAfter = "") {
        await answer();
        return [...objects.keys()]
          .filter((key) => key.startsWith(prefix) && key > startAfter)
          .sort()
          .map((key) => ({ key, size: objects.get(key)?.bytes.length ?? 0, modifiedAt: 0 }));
      },
      async remove(keys) {
        await answer();
        for (const key of keys) objects.delete(key);
      },
      clockSkewMs: () => 0,
    },
    FLEET_SECRET,
  );
  return store;
}
