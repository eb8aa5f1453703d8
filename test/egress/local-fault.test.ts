import { describe, expect, test } from "bun:test";
import { createEgress } from "../../src/egress/egress";
import { Fault } from "../../src/egress/model";
import { createMonitoring } from "../../src/features/monitors/engine/engine";
import { createTestApp } from "../support/app";
import { createTestClock } from "../support/clock";
import { patience } from "../support/egress";
import { createDeliverySite } from "../support/delivery-site";

/** A port of the loopback on which nothing listens. */
function closedPort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
  const port = server.port ?? 0;
  void server.stop(true);
  return port;
}

function createShortEgress() {
  const clock = createTestClock();
  const short = { isShort: true, clock };
  const egress = createEgress({
    clock,
    allowedNetworks: [],
    hasFreeDescriptor: () => !short.isShort,
  });
  return { short, egress };
}

describe("while this server has no free file descriptor", () => {
  test("a connection without a free file descriptor is a fault of this server, for a second longer", async () => {
    const { short, egress } = createShortEgress();
    const port = closedPort();
    const kind = async () => {
      const signal = patience();
      const outcome = await egress.connect({ host: "127.0.0.1", port, policy: "monitor", signal });
      return outcome instanceof Fault ? outcome.kind : "connected";
    };
    expect(await kind()).toBe("local");
    short.isShort = false;
    await short.clock.advance(999);
    expect(await kind()).toBe("local");
    await short.clock.advance(1);
    expect(await kind()).toBe("connect");
  });

  test("a check without a free file descriptor is no_data, and a real failure counts afterwards", async () => {
    const { short, egress } = createShortEgress();
    let engine: ReturnType<typeof createMonitoring> | undefined;
    await using app = await createTestApp({
      clock: short.clock,
      monitoring: (ctx) => (engine = createMonitoring(ctx, egress)),
    });
    const key = await app.keyWith("manage:monitors", "read:status");
    const { components } = await app.page({}, ["API"]);
    const json = {
      type: "tcp",
      name: "Closed",
      config: { host: "127.0.0.1", port: closedPort() },
      component_ids: Object.values(components),
      failure_threshold: 1,
    };
    const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
    const path = `/api/v1/monitors/${body.id}`;
    const check = async () => (await app.call(`${path}/check`, { key, method: "POST" })).body;
    const shown = async () => (await app.call("/api/v1/status/acme", { key })).body;

    expect(await check()).toMatchObject({
      outcome: "unknown",
      message: "This server has too many open files and connections.",
    });
    expect((await app.call(path, { key })).body.state).toBe("no_data");
    expect((await shown()).status.indicator).toBe("none");
    short.isShort = false;
    await app.clock.advance(1_000);
    expect(await check()).toMatchObject({ outcome: "failed" });
    expect((await app.call(path, { key })).body.state).toBe("down");
    await engine?.stop();
  });

  test("a delivery without a free file descriptor counts no attempt and is sent afterwards", async () => {
    const answer = {
      status: 200,
      headers: new Map<string, string>(),
      sentBody: new Uint8Array(),
      isTruncated: false,
      certificate: null,
      address: "127.0.0.1",
    };
    let isShort = true;
    const requestedAt: number[] = [];
    const { egress } = createShortEgress();
    await using site = await createDeliverySite({
      egress: {
        ...egress,
        async request() {
          requestedAt.push(site.app.clock.now());
          return isShort ? new Fault("local", "This server has too many open files.") : answer;
        },
      },
    });
    await site.endpoint("https://hooks.test/");
    await site.recordEvents("cmp_1");
    await site.idle();
    for (let second = 0; second < 120; second++) await site.app.clock.advance(1_000);
    expect(site.tries()).toEqual([]);
    expect(site.deliveries()).toMatchObject([{ status: "pending" }]);
    const waits = requestedAt.slice(1).map((at, index) => at - (requestedAt[index] ?? 0));
    expect(waits.slice(0, 6)).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    isShort = false;
    for (let second = 0; second < 31; second++) await site.app.clock.advance(1_000);
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "delivered" }]);
    expect(site.tries()).toMatchObject([{ number: 1, statusCode: 200 }]);
  });
});
