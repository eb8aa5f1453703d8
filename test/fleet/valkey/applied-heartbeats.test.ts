import { expect, test } from "bun:test";
import { applyHeartbeats } from "../../../src/fleet/valkey/beats";
import { createTestClock } from "../../support/clock";

test("a kept heartbeat is applied once, also if it cannot be removed from Valkey at once", async () => {
  const clock = createTestClock();
  const kept = JSON.stringify({ monitor: "mon_1", at: clock.now(), beat: { outcome: "ok" } });
  const entries = [["1-0", ["beat", kept]]];
  let isDown = true;
  const valkey = {
    isAvailable: () => true,
    async send(command: string) {
      if (command === "XRANGE") return [...entries];
      if (isDown) throw new Error("the connection was closed");
      entries.length = 0;
      return 1;
    },
  };
  const applied: string[] = [];
  const heartbeat = async (id: string) => void applied.push(id);
  const applying = applyHeartbeats(valkey, clock, { heartbeat }, () => true);
  await clock.advance(5_000);
  isDown = false;
  await clock.advance(5_000);
  expect(entries).toEqual([]);
  expect(applied).toEqual(["mon_1"]);
  await applying.stop();
});
