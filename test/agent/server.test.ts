import { expect, test } from "bun:test";
import { Server } from "../../src/agent/server";
import type { Ctx } from "../../src/context";
import type { Egress } from "../../src/egress/egress";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";

test("a stop ends the wait for the next poll, and the one after a failure, at once", async () => {
  const clock = createTestClock();
  const ctx = { clock, log: createTestLog("info").log } as unknown as Ctx;
  const server = new Server(ctx, {} as Egress, {
    server: "https://status.test",
    readToken: () => "token",
    onContact: () => {},
  });
  // The clock of the test stands still.
  const waits = [server.pause(60_000), server.backOff(new Error("no answer"))];
  server.stop();
  expect(await Promise.all(waits)).toEqual([undefined, undefined]);
  await server.pause(60_000);
});
