import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ObjectStore } from "../../../src/object-store/object-store";
import { temporaryFolder } from "../temporary-folder";
import { report, rounds, durationMs } from "../long";

const MIB = 1_024 * 1_024;

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Keys with characters that an address, a signature or a listing encodes. */
export const UNUSUAL_KEYS = [
  "a b+c",
  "a%2Fb/%41",
  "ä/ö/日本語/🙂",
  "q?x=1&y=2#z;=,@:$!*'()[]{}|^~`",
  'markup/<b>&amp;"quotes"',
  "dots/..a/...",
  "-._~",
];

/** Describes the behaviour that all stores share. `open` returns an empty store. */
export function describeStoreContract(name: string, open: () => Promise<ObjectStore>): void {
  describe(`objects in ${name}`, () => {
    test("a written object is read with the same bytes and entity tag", async () => {
      const store = await open();
      expect(await store.get("a/b.txt")).toBeUndefined();
      const written = await store.put("a/b.txt", bytesOf("one"), { type: "text/plain" });
      expect(await store.get("a/b.txt")).toEqual({
        bytes: Buffer.from("one"),
        ...changed(written),
      });
      const again = await store.put("a/b.txt", bytesOf("two"));
      expect(changed(again).etag).not.toBe(changed(written).etag);
      expect((await store.get("a/b.txt"))?.bytes).toEqual(Buffer.from("two"));
    });

    test("an empty object and one of all bytes are read as they were written", async () => {
      const store = await open();
      const all = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
      await store.put("empty", new Uint8Array());
      await store.put("all", all, { contentEncoding: "gzip", cacheControl: "max-age=5" });
      expect((await store.get("empty"))?.bytes).toEqual(Buffer.alloc(0));
      expect((await store.get("all"))?.bytes).toEqual(Buffer.from(all));
    });

    test("an object is created once by writes that require that there is none", async () => {
      const store = await open();
      const first = await store.put("leader.json", bytesOf("1"), { ifNoneMatch: true });
      expect(first).toEqual({ etag: expect.stringMatching(/^".+"$/) });
      expect(await store.put("leader.json", bytesOf("2"), { ifNoneMatch: true })).toBe("changed");
      expect((await store.get("leader.json"))?.bytes).toEqual(Buffer.from("1"));
    });

    test("an object is replaced only by writes with its entity tag", async () => {
      const store = await open();
      const first = changed(await store.put("leader.json", bytesOf("1")));
      const second = changed(await store.put("leader.json", bytesOf("2"), { ifMatch: first.etag }));
      expect(await store.put("leader.json", bytesOf("3"), { ifMatch: first.etag })).toBe("changed");
      expect(await store.get("leader.json")).toEqual({ bytes: Buffer.from("2"), ...second });
      expect(await store.put("missing", bytesOf("3"), { ifMatch: first.etag })).toBe("changed");
      expect(await store.get("missing")).toBeUndefined();
    });

    test(
      "one of eight contenders wins each round",
      async () => {
        const store = await open();
        const [all, times] = [rounds(10, 200), [] as number[]];
        let etag: string | undefined;
        for (let round = 0; round < all; round++) {
          const condition = etag === undefined ? { ifNoneMatch: true as const } : { ifMatch: etag };
          const contend = async (contender: number) => {
            const sentAt = performance.now();
            const bytes = bytesOf(`${round} ${contender}`);
            const result = await store.put("leader.json", bytes, condition);
            times.push(performance.now() - sentAt);
            return result;
          };
          const results = await Promise.all(
            Array.from({ length: 8 }, (_, index) => contend(index)),
          );
          const winners = results.filter((result) => result !== "changed");
          expect(winners).toHaveLength(1);
          etag = winners[0]?.etag;
          expect((await store.get("leader.json"))?.etag).toBe(etag ?? "");
        }
        const p99Ms = times.toSorted((x, y) => x - y)[Math.floor(times.length * 0.99)] ?? 0;
        report(`eight contenders in ${name}`, {
          rounds: all,
          winnersEach: 1,
          p99Ms: p99Ms.toFixed(1),
        });
      },
      durationMs(600_000, 300_000),
    );

    test("a download writes the object into a file, and no file for a missing object", async () => {
      const store = await open();
      using folder = temporaryFolder();
      const file = join(folder.path, "object");
      expect(await store.download("a", file)).toBeUndefined();
      expect(existsSync(file)).toBe(false);
      const bytes = Buffer.alloc(3_000_000, "0123456789");
      const written = changed(await store.put("a", bytes));
      expect(await store.download("a", file)).toEqual({ size: bytes.length, ...written });
      expect(readFileSync(file)).toEqual(bytes);
    });

    test.each([0, 1, 8 * MIB, 8 * MIB + 1, 20 * MIB])(
      "a file of %i bytes is uploaded as it is, also over an earlier object",
      async (size) => {
        const store = await open();
        using folder = temporaryFolder();
        const [file, copy] = [join(folder.path, "file"), join(folder.path, "copy")];
        const bytes = Buffer.alloc(size, "0123456789abc");
        writeFileSync(file, bytes);
        await store.put("a/b", bytesOf("earlier"));
        await store.upload("a/b", file);
        await store.upload("c", file, new AbortController().signal);
        expect((await store.list("")).map(({ key, size }) => [key, size])).toEqual([
          ["a/b", size],
          ["c", size],
        ]);
        await store.download("a/b", copy);
        expect(Buffer.compare(readFileSync(copy), bytes)).toBe(0);
      },
    );

    test("an upload that is cancelled leaves no object", async () => {
      const store = await open();
      using folder = temporaryFolder();
      const file = join(folder.path, "file");
      for (const size of [1, 20 * MIB]) {
        writeFileSync(file, Buffer.alloc(size));
        await expect(store.upload("a", file, AbortSignal.abort())).rejects.toThrow();
      }
      const cancel = new AbortController();
      const uploading = store.upload("a", file, cancel.signal);
      setImmediate(() => cancel.abort());
      await expect(uploading).rejects.toThrow();
      expect(await store.list("")).toEqual([]);
      await store.upload("a", file);
      expect((await store.list("")).map(({ size }) => size)).toEqual([20 * MIB]);
    });

    test("objects are listed in order, by prefix and after a key", async () => {
      const store = await open();
      for (const key of ["b/2", "b/1", "a", "b", "b2/x", "ä"]) {
        if (key !== "b") await store.put(key, bytesOf(key));
      }
      const keys = async (...query: [string, string?]) =>
        (await store.list(...query)).map(({ key }) => key);
      expect(await keys("")).toEqual(["a", "b/1", "b/2", "b2/x", "ä"]);
      expect(await keys("b")).toEqual(["b/1", "b/2", "b2/x"]);
      expect(await keys("b/")).toEqual(["b/1", "b/2"]);
      expect(await keys("b/", "b/1")).toEqual(["b/2"]);
      expect(await keys("", "b/11")).toEqual(["b/2", "b2/x", "ä"]);
      expect(await keys("nothing/")).toEqual([]);
      const [first] = await store.list("ä");
      expect(first?.size).toBe(2);
      expect(Math.abs((first?.modifiedAt ?? 0) - Date.now())).toBeLessThan(60_000);
    });

    test("more than a thousand objects are listed", async () => {
      const store = await open();
      const names = Array.from(
        { length: 1_203 },
        (_, index) => `n/${String(index).padStart(5, "0")}`,
      );
      for (let from = 0; from < names.length; from += 50) {
        await Promise.all(
          names.slice(from, from + 50).map((name) => store.put(name, bytesOf("x"))),
        );
      }
      expect((await store.list("n/")).map(({ key }) => key)).toEqual(names);
      expect((await store.list("n/", names[1_100])).map(({ key }) => key)).toEqual(
        names.slice(1_101),
      );
    }, 60_000);

    test("removed objects are gone, and missing ones are ignored", async () => {
      const store = await open();
      await store.put("a/b/c", bytesOf("1"));
      await store.put("a/d", bytesOf("1"));
      await store.remove(["a/b/c", "never", "a/b/never"]);
      expect((await store.list("")).map(({ key }) => key)).toEqual(["a/d"]);
      await store.remove([]);
      await store.remove(["a/d"]);
      expect(await store.list("")).toEqual([]);
    });

    test.each(UNUSUAL_KEYS)("the key %s is written, listed, read and removed", async (key) => {
      const store = await open();
      await store.put(key, bytesOf(key));
      expect((await store.list("")).map((object) => object.key)).toEqual([key]);
      expect((await store.list(key.slice(0, 2))).map((object) => object.key)).toEqual([key]);
      expect((await store.get(key))?.bytes).toEqual(Buffer.from(key));
      await store.remove([key]);
      expect(await store.get(key)).toBeUndefined();
    });

    test.each([
      "",
      "/a",
      "a/",
      "a//b",
      "../a",
      "a/../../b",
      "a/./b",
      "a\\b",
      "a\nb",
      "a\0b",
      "\ud800",
    ])("the key %p is refused by all calls", async (key) => {
      const store = await open();
      await expect(store.put(key, bytesOf("1"))).rejects.toThrow("A key");
      await expect(store.get(key)).rejects.toThrow("A key");
      await expect(store.download(key, "/nowhere")).rejects.toThrow("A key");
      await expect(store.upload(key, "/nowhere")).rejects.toThrow("A key");
      await expect(store.remove([key])).rejects.toThrow("A key");
      expect(await store.list("")).toEqual([]);
    });

    test("a key of more than 1,024 bytes is refused", async () => {
      const store = await open();
      await expect(store.put("ä/".repeat(400), bytesOf("1"))).rejects.toThrow("1024 bytes");
    });
  });
}

/** Returns the entity tag of a write, which must have taken place. */
export function changed(result: { etag: string } | "changed"): { etag: string } {
  if (result === "changed") throw new Error("the condition was not met");
  return result;
}
