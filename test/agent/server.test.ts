import { expect, test } from "bun:test";
import { Server } from "../../src/agent/server";
import type { Ctx } from "../../src/context";
import type { Egress } from "../../src/egress/egress";
import { Fault, type HttpAnswer, type HttpRequest } from "../../src/egress/model";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";

const OPTIONS = { server: "https://status.test", readToken: () => "token", onContact: () => {} };

const REJECTED: HttpAnswer = {
  status: 401,
  headers: new Map(),
  sentBody: new TextEncoder().encode("{}"),
  isTruncated: false,
  certificate: null,
  address: "192.0.2.1",
};

test("a stop ends the wait for the next poll, and the one after a failure, at once", async () => {
  const clock = createTestClock();
  const ctx = { clock, log: createTestLog("info").log } as unknown as Ctx;
  const server = new Server(ctx, {} as Egress, OPTIONS);
  // The clock of the test stands still.
  const waits = [server.pause(60_000), server.backOff(new Error("no answer"))];
  server.stop();
  expect(await Promise.all(waits)).toEqual([undefined, undefined]);
  await server.pause(60_000);
});

test("a token that is refused for results ends the poll as well, which then says so", async () => {
  const clock = createTestClock();
  const log = createTestLog("info");
  const ctx = { clock, log: log.log } as unknown as Ctx;
  const polls: HttpRequest[] = [];
  const request = (sent: HttpRequest): Promise<HttpAnswer | Fault> => {
    if (sent.method === "POST" || polls.push(sent) > 1) return Promise.resolve(REJECTED);
    const { promise, resolve } = Promise.withResolvers<Fault>();
    const end = () => resolve(new Fault("connect", "The request was ended."));
    sent.signal.addEventListener("abort", end, { once: true });
    return promise;
  };
  const server = new Server(ctx, { request } as unknown as Egress, OPTIONS);
  const polling = server.work(undefined).catch((error: unknown) => error);
  const sending = server.send({ process: "0".repeat(24), results: [] });
  await expect(sending).rejects.toThrow("401");
  expect(await polling).toMatchObject({ message: "The request was ended." });
  await expect(server.work(undefined)).rejects.toThrow("401");
  // The server was reached all the time.
  expect(server.cutOffUntil).toBeLessThanOrEqual(clock.now());
  expect(JSON.stringify(log.lines)).not.toContain("was ended");
});

test("a token that is refused for the poll is named in the log", async () => {
  const log = createTestLog("info");
  const ctx = { clock: createTestClock(), log: log.log } as unknown as Ctx;
  const request = () => Promise.resolve(REJECTED);
  const server = new Server(ctx, { request } as unknown as Egress, OPTIONS);
  await expect(server.work(undefined)).rejects.toThrow("401");
  expect(log.lines.map(({ msg }) => msg)).toEqual(["The server answered with status 401."]);
});
