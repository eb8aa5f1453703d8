import { expect, test } from "bun:test";
import { describeWithPrograms } from "../support/fleet/describe";
import { startNode } from "../support/fleet/nodes";
import { S3_SERVERS, startS3 } from "../support/fleet/s3";

for (const name of S3_SERVERS) {
  await describeWithPrograms(
    `a node whose clock differs from that of ${name}`,
    { go: [name, "litestream"] },
    () => {
      // A store refuses requests of a clock that is more than 15 minutes off.
      test.each([
        ["an hour ahead", 3_600_000],
        ["an hour behind", -3_600_000],
        ["90 seconds ahead", 90_000],
      ])(
        "does not start %s",
        async (_, clockOffsetMs) => {
          await using store = await startS3(name);
          const starting = startNode({ store, path: "fleet", clockOffsetMs });
          const seconds = Math.abs(clockOffsetMs) / 1_000;
          // Times of the store are cut to seconds.
          const read = `(${seconds - 1}|${seconds}|${seconds + 1})`;
          await expect(starting).rejects.toThrow(
            new RegExp(`clock of this machine and that of the store \\S+ differ by ${read} s`),
          );
          expect(await store.open("fleet").get("leader.json")).toBeUndefined();
        },
        30_000,
      );

      test.each([-3_600_000, 90_000])(
        "does not start as a replica either: %p ms",
        async (clockOffsetMs) => {
          await using store = await startS3(name);
          await using _ = await startNode({ store, path: "fleet" });
          const args = ["--replica"];
          const starting = startNode({ store, path: "fleet", args, clockOffsetMs });
          await expect(starting).rejects.toThrow(/clock of this machine and that of the store/);
        },
        30_000,
      );

      test("warns ten seconds ahead, and serves", async () => {
        await using store = await startS3(name);
        await using node = await startNode({ store, path: "fleet", clockOffsetMs: 10_000 });
        expect((await node.call("/readyz")).status).toBe(200);
        expect(node.output()).toContain("the clocks of this machine and the store differ");
      }, 30_000);
    },
  );
}
