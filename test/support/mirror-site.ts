import type { AlarmKind } from "../../src/features/alarms/kinds";
import type { Snapshots } from "../../src/features/status/snapshots";
import { holdForms, type RunningFleet } from "../../src/fleet/fleet";
import { type RunningMirror, startMirror } from "../../src/mirror/mirror";
import type { ObjectStore, PutOptions } from "../../src/object-store/object-store";
import { createTestApp, type TestApp } from "./app";

/** Faults of the store that a test switches on. */
interface StoreFaults {
  /** Paths whose writes fail. */
  put?: RegExp | undefined;
  remove?: boolean;
  list?: boolean;
  /** Holds back writes of paths that match until it resolves. */
  hold?: { path: RegExp; until: Promise<unknown> } | undefined;
}

interface WrittenFile extends PutOptions {
  bytes: Uint8Array;
}

/** A store in memory, which a second mirror can take over. */
export interface TestStore extends ObjectStore {
  files: Map<string, WrittenFile>;
  faults: StoreFaults;
  /** Returns the paths that were written since the last call, in order. */
  taken(): string[];
}

/** An application with a mirror in memory. */
export interface MirrorSite extends TestMirror, AsyncDisposable {
  app: TestApp;
  store: TestStore;
  /** Paths of all files, in order. */
  paths(): string[];
  read(path: string): string;
  /** Delays answers as the server does. */
  hold: RunningFleet["hold"];
}

/** A mirror of an application. */
export interface TestMirror {
  mirror: RunningMirror;
  /** Details of the alarms that are raised. */
  alarms: Map<AlarmKind, string>;
  /** Advances the clock and waits until nothing is being written. */
  pass(ms: number): Promise<void>;
}

/** Starts a mirror in any store. It is complete after `pass(0)`. */
export async function startTestMirror(
  { app, ctx, clock }: TestApp,
  store: ObjectStore,
  /** Slug of a page that cannot be read. */
  damaged?: string,
): Promise<TestMirror> {
  const alarms: TestMirror["alarms"] = new Map();
  const { snapshots: whole, readIncidents } = await app.loadPages();
  const snapshots: Snapshots = {
    ...whole,
    read(slug, now) {
      if (slug === damaged) throw new Error(`${slug} is damaged`);
      return whole.read(slug, now);
    },
  };
  const mirror = startMirror({
    ctx,
    snapshots,
    readIncidents,
    store,
    alarms: {
      raise: (kind, detail) => void alarms.set(kind, detail),
      clear: (kind) => void alarms.delete(kind),
      list: () => [],
    },
  });
  return {
    mirror,
    alarms,
    async pass(ms) {
      await clock.advance(ms);
      await mirror.settled();
    },
  };
}

/** Creates an application with a mirror in memory. */
export async function createMirrorSite({
  store = createTestStore(),
  damaged,
  ...options
}: Parameters<typeof createTestApp>[0] & {
  store?: TestStore;
  damaged?: string;
} = {}): Promise<MirrorSite> {
  const app = await createTestApp(options);
  const own = await startTestMirror(app, store, damaged);
  return {
    ...own,
    app,
    store,
    hold: holdForms([own.mirror]),
    paths: () => [...store.files.keys()].toSorted(),
    read(path) {
      const file = store.files.get(path);
      if (!file) throw new Error(`the mirror has no ${path}`);
      return new TextDecoder().decode(file.bytes);
    },
    async [Symbol.asyncDispose]() {
      await own.mirror.stop();
      await app[Symbol.asyncDispose]();
    },
  };
}

export function createTestStore(): TestStore {
  const files = new Map<string, WrittenFile>();
  const faults: StoreFaults = {};
  let written: string[] = [];
  return {
    name: "s3://status",
    files,
    faults,
    taken() {
      const paths = written;
      written = [];
      return paths;
    },
    clockSkewMs: () => undefined,
    async get(key) {
      const file = files.get(key);
      return file && { bytes: file.bytes, etag: "" };
    },
    download: () => Promise.reject(new Error("not used by a mirror")),
    upload: () => Promise.reject(new Error("not used by a mirror")),
    async put(path, bytes, options = {}) {
      if (faults.hold?.path.test(path)) await faults.hold.until;
      if (faults.put?.test(path)) throw new Error("The store s3://status did not answer.");
      written.push(path);
      files.set(path, { ...options, bytes });
      return { etag: "" };
    },
    async list(prefix) {
      if (faults.list) throw new Error("The store s3://status did not answer.");
      return Array.from(files)
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { bytes }]) => ({ key, size: bytes.byteLength, modifiedAt: 0 }));
    },
    async remove(paths) {
      if (faults.remove) throw new Error("The store s3://status refused.");
      for (const path of paths) files.delete(path);
    },
  };
}
