import { expect, test } from "bun:test";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { createTestApp } from "../../../support/app";
import type { TestClock } from "../../../support/clock";
import { readHtml } from "../../../support/html";

/** A server with one page whose engine runs, and its notices on the overview. */
async function openServer() {
  let engine: ReturnType<typeof createMonitoring> | undefined;
  const app = await createTestApp({
    monitoring: (ctx) => (engine = createMonitoring(ctx, undefined, { detectsStalls: true })),
  });
  engine?.start();
  await app.page();
  const session = await app.signedIn("viewer");
  return {
    app,
    async notices(): Promise<string[]> {
      return readHtml((await app.call("/admin", { session })).text).texts("#busy .notice");
    },
    async [Symbol.asyncDispose]() {
      await engine?.stop();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Lets the process stand still for three of four seconds. */
async function beBusy(clock: TestClock, forMs: number): Promise<void> {
  for (let passed = 0; passed < forMs; passed += 4 * SECOND_MS) {
    clock.stall(3 * SECOND_MS);
    // oxlint-disable-next-line no-await-in-loop
    await clock.advance(SECOND_MS);
  }
}

test("the overview says after a minute of stalls that the machine is too busy, and no longer once they have ended", async () => {
  await using server = await openServer();
  const { clock } = server.app;
  await clock.advance(10 * SECOND_MS);
  await beBusy(clock, 56 * SECOND_MS);
  expect(await server.notices()).toEqual([]);
  await beBusy(clock, 8 * SECOND_MS);
  expect(await server.notices()).toEqual([
    "This machine is too busy to judgeFor more than a minute, Allclear has stood still again and again, so its checks may fail although their targets are well. Each is repeated once, and the second result counts. End other programs on this machine, give it more processors or a faster disk, or move Allclear to another one.",
  ]);
  await clock.advance(5 * SECOND_MS);
  expect(await server.notices()).toEqual([]);
});

test("the overview of a server that was suspended once for a minute shows no notice", async () => {
  await using server = await openServer();
  server.app.clock.stall(MINUTE_MS);
  await server.app.clock.advance(SECOND_MS);
  expect(await server.notices()).toEqual([]);
});
