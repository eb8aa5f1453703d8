import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openObjectStore } from "../../src/object-store/open";
import { systemClock } from "../../src/base/clock";
import { describeWithPrograms } from "../support/fleet/describe";
import { S3_SERVERS, type S3Server, startS3 } from "../support/fleet/s3";
import { changed, describeStoreContract } from "../support/fleet/store-contract";
import { temporaryFolder } from "../support/temporary-folder";

const ONE = Buffer.from("1");

for (const name of S3_SERVERS) {
  await describeWithPrograms(name, { go: [name] }, () => {
    let server: S3Server;
    beforeAll(async () => {
      server = await startS3(name);
    }, 600_000);
    afterAll(() => server?.[Symbol.asyncDispose]());

    let paths = 0;
    const openEmpty = () => server.open(`path-${++paths}/inner`);
    describeStoreContract(name, async () => openEmpty());

    test("the top of the bucket is a store as well", async () => {
      const store = server.open("");
      await store.put("top/a", ONE);
      expect((await store.list("top/")).map(({ key }) => key)).toEqual(["top/a"]);
      expect((await store.get("top/a"))?.bytes).toEqual(ONE);
      expect((await store.list("", "top")).map(({ key }) => key)).toContain("top/a");
      await store.remove(["top/a"]);
    });

    test("a bucket that does not exist is an error of each call", async () => {
      const address = { ...server.addressOf("a"), bucket: "missing-bucket" };
      const store = openObjectStore(address, server.credentials, { clock: systemClock() });
      const error = {
        kind: "refused",
        status: 404,
        message: expect.stringContaining("NoSuchBucket"),
      };
      await expect(store.get("a")).rejects.toMatchObject(error);
      await expect(store.put("a", ONE)).rejects.toMatchObject(error);
      await expect(store.put("a", ONE, { ifMatch: '"x"' })).rejects.toMatchObject(error);
      await expect(store.list("")).rejects.toMatchObject(error);
    });

    test("the store's clock is this machine's", async () => {
      const store = openEmpty();
      await store.put("a", ONE);
      expect(Math.abs(store.clockSkewMs() ?? Infinity)).toBeLessThanOrEqual(1_500);
    });

    test("a frozen store fails each call at its deadline, and the calls after it succeed", async () => {
      using folder = temporaryFolder();
      const file = join(folder.path, "object");
      const path = `path-${++paths}`;
      const store = server.open(path, { deadlineMs: 200 });
      await store.put("a", ONE);
      server.freeze();
      try {
        const late = { kind: "timeout", message: expect.stringContaining("within 0.2 s") };
        await expect(store.get("a")).rejects.toMatchObject(late);
        await expect(store.download("a", file)).rejects.toMatchObject(late);
        await expect(store.put("b", ONE)).rejects.toMatchObject(late);
        await expect(store.put("c", ONE, { ifNoneMatch: true })).rejects.toMatchObject(late);
        await expect(store.list("")).rejects.toMatchObject(late);
        await expect(store.remove(["a"])).rejects.toMatchObject(late);
        expect(existsSync(file)).toBe(false);
      } finally {
        server.thaw();
      }
      await server.open(path).put("d", ONE);
    });

    test("a killed store is unreachable, and has its objects when it runs again", async () => {
      const store = openEmpty();
      const written = changed(await store.put("a", ONE));
      await server.kill();
      await expect(store.get("a")).rejects.toMatchObject({ kind: "unreachable" });
      await expect(store.put("a", ONE)).rejects.toMatchObject({ kind: "unreachable" });
      await expect(store.list("")).rejects.toMatchObject({ kind: "unreachable" });
      await server.restart();
      expect(await store.get("a")).toEqual({ bytes: ONE, ...written });
      expect(await store.put("a", Buffer.from("2"), { ifMatch: written.etag })).not.toBe("changed");
    });

    // gofakes3 checks no signatures.
    if (name === "gofakes3") return;
    test("a wrong secret and a wrong region are refused", async () => {
      const open = (changes: object, secret: string) =>
        openObjectStore(
          { ...server.addressOf("a"), ...changes },
          { ...server.credentials, secret },
          { clock: systemClock() },
        );
      await expect(open({}, "wrong").put("a", ONE)).rejects.toMatchObject({
        status: 403,
        message: expect.stringContaining("SignatureDoesNotMatch"),
      });
      const { secret } = server.credentials;
      await expect(open({ region: "eu-1" }, secret).get("a")).rejects.toMatchObject({
        kind: "refused",
      });
    });

    test.each([
      ["ahead", 3_600_000],
      ["behind", -3_600_000],
    ])(
      "a clock that is an hour %s is refused once with the difference, and then corrected",
      async (direction, offset) => {
        const clock = { ...systemClock(), now: () => Date.now() + offset };
        const store = server.open("a", { clock });
        await expect(store.put("a", ONE)).rejects.toMatchObject({
          status: 403,
          message: expect.stringMatching(
            new RegExp(
              `Skewed, since this machine's clock is (3599|36\\d\\d) s ${direction}: write a`,
            ),
          ),
        });
        expect(Math.abs((store.clockSkewMs() ?? 0) + offset)).toBeLessThanOrEqual(1_500);
        await store.put("a", ONE);
        expect(Math.abs((store.clockSkewMs() ?? 0) + offset)).toBeLessThanOrEqual(1_500);
      },
    );
  });
}
