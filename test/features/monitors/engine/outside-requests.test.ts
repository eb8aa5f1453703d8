import { expect, test } from "bun:test";
import { createIdleMonitoring, type Heartbeat } from "../../../../src/features/monitors/monitoring";
import { createTestApp } from "../../../support/app";

test.each([
  ["a global address is an answer from outside", "8.8.8.8", {}, true],
  ["a private address is none", "192.168.1.7", {}, false],
  ["a private address stays none with a forwarding header", "10.1.0.1", { via: "8.8.8.8" }, false],
  ["a trusted proxy counts by the address that it names", "10.0.0.1", { via: "8.8.8.8" }, true],
  ["a trusted proxy is none for a private client", "10.0.0.1", { via: "192.168.1.7" }, false],
] as const)("a request from %s", async (_name, peer, { via }: { via?: string }, isOutside) => {
  await using app = await createTestApp({ env: { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.1" } });
  await app.clock.advance(1_000);
  await app.call("/healthz", {
    from: peer,
    headers: via === undefined ? {} : { "x-forwarded-for": via },
  });
  expect(app.ctx.outside.lastAt > Number.NEGATIVE_INFINITY).toBe(isOutside);
});

test("calls of jobs carry if they came from outside", async () => {
  const beats: Heartbeat[] = [];
  const heartbeat = async (_id: string, beat: Heartbeat) => void beats.push(beat);
  await using app = await createTestApp({
    monitoring: (ctx) => ({ ...createIdleMonitoring(ctx), heartbeat }),
  });
  const key = await app.keyWith("manage:monitors");
  const json = { type: "push", name: "Backup", config: { grace_seconds: 600 } };
  const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
  const { token } = body as { token: string };
  for (const from of ["8.8.8.8", "192.168.1.7"]) {
    await app.call(`/api/v1/heartbeats/${token}`, { from });
    await app.call(`/api/v1/heartbeats/${token}/start`, { from, method: "POST" });
  }
  expect(beats.map(({ isFromOutside }) => isFromOutside)).toEqual([true, true, false, false]);
});
