import { expect, test } from "bun:test";
import { join } from "node:path";
import { createDb } from "../../src/db";
import { COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../../src/db/open";
import { CLI_ACTOR } from "../../src/domain/actor";
import { createKey, revokeKey } from "../../src/features/keys";
import { createContext } from "../../src/installation";
import { systemClock } from "../../src/kernel/clock";
import { systemRandom } from "../../src/kernel/random";
import { testConfig } from "../support/app";
import { describeLongRun } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { report, rounds, durationMs } from "../support/fleet/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { startS3 } from "../support/fleet/s3";
import { createTestLog } from "../support/log";

const ROUNDS = rounds(5, 200);
/** Longest time for which a replica may accept a revoked key, in ms. */
const REFUSED_WITHIN_MS = 2_000;

/** Longest time between two listings of the store, and a part of it. */
const INTERVAL_MS = 1_000;
const PHASE_MS = 370;

/** Opens the database of a running primary for changes, as a command such as `key revoke` does. */
function openCommand(primary: FleetNode) {
  const { log } = createTestLog("silent");
  const sqlite = openSqlite(join(primary.folder, "allclear.db"), COMMAND_BUSY_TIMEOUT_MS);
  const clock = systemClock();
  const db = createDb(sqlite, clock, log);
  const ctx = createContext({ config: testConfig(), db, clock, log, random: systemRandom });
  return { ctx, [Symbol.dispose]: () => sqlite.close() };
}

await describeLongRun(
  "a key that is revoked beside the primary",
  { go: ["litestream", "versitygw"] },
  () => {
    test(
      "a replica refuses it within two seconds, or answers 503",
      async () => {
        await using store = await startS3();
        await using primary = await startNode({ store, path: "fleet" });
        await using replica = await startNode({ store, path: "fleet", args: ["--replica"] });
        await eventually(
          "the replica answers",
          async () => (await replica.call("/readyz/api")).status === 200,
        );
        using command = openCommand(primary);
        const { ctx } = command;
        const statusOf = async (key: string) =>
          (await replica.call("/api/v1/components", { key })).status;
        const times: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const input = { name: `Key ${round}`, scopes: ["read:status" as const] };
          const { key, value } = await ctx.db.write((tx) => createKey(ctx, tx, input, CLI_ACTOR));
          await eventually(
            "the replica knows the key",
            async () => (await statusOf(value)) === 200,
          );
          // The replica has just listed the store. Rounds begin at other times of its interval.
          await Bun.sleep((round * PHASE_MS) % INTERVAL_MS);
          await ctx.db.write((tx) => revokeKey(ctx, tx, key.id, CLI_ACTOR));
          const revokedAt = performance.now();
          let acceptedAt = revokedAt;
          await eventually("the replica refuses the key", async () => {
            const askedAt = performance.now();
            const status = await statusOf(value);
            if (status === 200) acceptedAt = askedAt;
            return status === 401;
          });
          times.push(acceptedAt - revokedAt);
        }
        times.sort((a, b) => a - b);
        const [median = 0, most = 0] = [times[Math.floor(times.length / 2)], times.at(-1)];
        report("revoked beside the primary", { rounds: ROUNDS, median, most });
        expect(most).toBeLessThan(REFUSED_WITHIN_MS);
      },
      durationMs(60_000, 1_200_000),
    );
  },
);
