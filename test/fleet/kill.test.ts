import { expect, test } from "bun:test";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine } from "../support/fleet/fleet";
import { durationMs, expectWithin, IS_LONG_RUN, report, rounds } from "../support/long";
import { startNode } from "../support/fleet/nodes";
import { connectTo } from "../support/fleet/primary";
import { startS3 } from "../support/fleet/s3";
import { incidentNames, startWrites } from "../support/fleet/writes";

const PER_SECOND = 100;
/** Acknowledged writes of a round before the kill: about one and a half seconds. */
const WRITES = 150;
/** Pause between two attempts of the first write after the kill, in ms. */
const PAUSE_MS = 50;

/** Longest time without writes in ms, by the kind of promotion. */
const BACK_MS = { promote: 5_000, automatic: 25_000 };

/** Age in ms that a lost write of `--ack local` can have at the kill. In short runs other tests delay the uploads. */
const LOST_MS = durationMs(3_000, 1_000);

/** Limit of a test in ms. */
const LIMIT = durationMs(600_000, 60 * 60_000);

type Promotion = keyof typeof BACK_MS;
type Ack = "replicated" | "local";

await describeWithPrograms("a primary that is killed", { go: ["litestream", "versitygw"] }, () => {
  test.each<[Ack, Promotion]>([
    ["replicated", "promote"],
    ["local", "promote"],
  ])("under 100 writes a second with --ack %s loses at most what that allows, by %s", check, LIMIT);

  test.skipIf(!IS_LONG_RUN).each<[Ack, Promotion]>([
    ["replicated", "automatic"],
    ["local", "automatic"],
  ])("under 100 writes a second with --ack %s loses at most what that allows, %s", check, LIMIT);
});

async function check(ack: Ack, promotion: Promotion): Promise<void> {
  await using store = await startS3();
  const path = "kill";
  const env = { ALLCLEAR_ACK: ack };
  const args = ["--eligible", ...(promotion === "automatic" ? ["--failover", promotion] : [])];
  await using first = await startNode({ store, path, env, args: ["--rejoin", ...args] });
  const client = await connectTo(first);
  await using second = await startNode({ store, path, env, args: ["--replica", ...args] });
  let [primary, replica] = [first, second];
  const figures = { runs: 0, sent: 0, acknowledged: 0, lost: 0, lostMaxMs: 0, backMaxMs: 0 };
  for (let round = 1; round <= rounds(1, 25); round++) {
    await eventually(
      "the replica follows",
      async () => (await replica.call("/readyz/api")).status === 200,
    );
    const writes = startWrites((name) => client.openIncident(name, primary), {
      prefix: `${round}`,
      perSecond: PER_SECOND,
    });
    await eventually("writes are acknowledged", async () => writes.acknowledged.length > WRITES);
    const killedAt = performance.now();
    await killMachine(primary);
    await writes.stop();
    if (promotion === "promote") {
      const promoted = await replica.run("promote", "--force");
      expect([promoted.code, promoted.stderr]).toEqual([0, expect.any(String)]);
    }
    await untilWritten(() => client.openIncident(`back-${round}`, replica));
    const backMs = performance.now() - killedAt;
    const names = incidentNames(replica);
    const lost = writes.acknowledged.filter(({ name }) => !names.has(name));
    figures.runs += 1;
    figures.sent += writes.sent();
    figures.acknowledged += writes.acknowledged.length;
    figures.lost += lost.length;
    for (const { at } of lost) {
      figures.lostMaxMs = Math.max(figures.lostMaxMs, Math.round(killedAt - at));
    }
    figures.backMaxMs = Math.max(figures.backMaxMs, Math.round(backMs));
    expect(writes.acknowledged.filter(({ isLocal }) => isLocal !== (ack === "local"))).toEqual([]);
    await primary.restart();
    [primary, replica] = [replica, primary];
  }
  report(`kill -9 at ${PER_SECOND} writes/s, --ack ${ack}, ${promotion}`, figures);
  if (ack === "replicated") expect(figures.lost).toBe(0);
  else expectWithin(figures.lostMaxMs, LOST_MS);
  expectWithin(figures.backMaxMs, BACK_MS[promotion]);
}

async function untilWritten(write: () => Promise<Response>): Promise<void> {
  while ((await write().catch(() => undefined))?.status !== 201) await Bun.sleep(PAUSE_MS);
}
