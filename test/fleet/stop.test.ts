import { describe, expect, test } from "bun:test";
import { notPrimary } from "../../src/fleet/leader";
import type { ProbeResult } from "../../src/features/monitors/monitoring";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/base/time";
import type { TestApp } from "../support/app";
import { createDeliverySite } from "../support/delivery-site";
import { openEngineSite } from "../support/engine-site";
import { createMailSite } from "../support/mail-site";
import { createMaintenanceSite } from "../support/maintenance-site";

/** Gives an application a lease that the test takes away. */
function holdLeaseOf({ ctx }: TestApp): { isHeld: boolean } {
  const lease = { isHeld: true };
  ctx.isPrimary = () => lease.isHeld;
  ctx.db.guard(() => (lease.isHeld ? undefined : notPrimary()));
  return lease;
}

describe("without its lease a primary", () => {
  test("refuses changes with 503 and answers reads", async () => {
    await using site = await createMaintenanceSite();
    const lease = holdLeaseOf(site.app);
    const id = await site.plan();
    lease.isHeld = false;
    const refused = await site.post();
    expect([refused.status, refused.body.code]).toEqual([503, "unavailable"]);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await site.get(id)).status).toBe("scheduled");
    expect((await site.app.call("/readyz")).status).toBe(200);
    expect((await site.app.call("/readyz/write")).status).toBe(503);
    lease.isHeld = true;
    expect((await site.post()).status).toBe(201);
    expect((await site.app.call("/readyz/write")).status).toBe(200);
  });

  test("begins no check, and the time counts as one without data", async () => {
    await using site = await openEngineSite();
    const lease = holdLeaseOf(site.app);
    await site.stop();
    await site.start();
    const { id } = await site.monitor();
    await site.clock.advance(2 * MINUTE_MS);
    const before = site.checkCount();
    expect(before).toBeGreaterThan(1);
    lease.isHeld = false;
    await site.clock.advance(10 * MINUTE_MS);
    expect(site.checkCount()).toBe(before);
    await expect(site.engine.checkNow(id)).rejects.toThrow();
    lease.isHeld = true;
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.checkCount()).toBeGreaterThan(before);
    expect(site.timeline(id).join(" ")).toContain("no_data");
  });

  test("begins no check when one ends that was under way", async () => {
    await using site = await openEngineSite();
    const lease = holdLeaseOf(site.app);
    const { promise, resolve } = Promise.withResolvers<ProbeResult>();
    site.let("slow.test", () => promise);
    await site.stop();
    await site.start();
    await site.monitor({ interval_seconds: 5 });
    await site.monitor({ name: "slow", interval_seconds: 60, timeout_ms: 30_000 });
    await site.clock.advance(10 * SECOND_MS);
    expect(site.checkCount("slow.test")).toBe(1);
    lease.isHeld = false;
    const before = site.checkCount();
    await site.clock.advance(10 * SECOND_MS);
    resolve({ outcome: "ok", latencyMs: 20, message: null });
    await site.clock.advance(SECOND_MS);
    expect(site.checkCount()).toBe(before);
    lease.isHeld = true;
    await site.clock.advance(10 * SECOND_MS);
    expect(site.checkCount()).toBeGreaterThan(before);
  });

  test("begins no delivery, and delivers afterwards", async () => {
    const requests: string[] = [];
    using receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        requests.push(request.headers.get("webhook-id") ?? "");
        return new Response();
      },
    });
    await using site = await createDeliverySite();
    const lease = holdLeaseOf(site.app);
    await site.endpoint(`http://127.0.0.1:${receiver.port}/`);
    lease.isHeld = false;
    // Recorded before the lease ended.
    site.app.ctx.db.guard(() => undefined);
    await site.recordEvents("cmp_1");
    await site.app.clock.advance(MINUTE_MS);
    expect(requests).toEqual([]);
    lease.isHeld = true;
    await site.app.clock.advance(2 * SECOND_MS);
    await site.idle();
    expect(requests).toHaveLength(1);
  });

  test("begins no mail", async () => {
    let connections = 0;
    using relay = Bun.listen({
      port: 0,
      hostname: "127.0.0.1",
      socket: { open: () => void (connections += 1), data() {} },
    });
    await using site = await createMailSite(relay);
    const lease = holdLeaseOf(site.app);
    lease.isHeld = false;
    site.app.ctx.db.guard(() => undefined);
    await site.queue({ to: "ann@example.com" });
    await site.app.clock.advance(MINUTE_MS);
    expect(connections).toBe(0);
  });

  test("makes no step of the maintenance clock, and makes the due ones afterwards", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const lease = holdLeaseOf(site.app);
    const id = await site.plan({ remind_minutes_before: null });
    lease.isHeld = false;
    await site.clock.advance(2 * HOUR_MS + MINUTE_MS);
    expect((await site.get(id)).status).toBe("scheduled");
    lease.isHeld = true;
    await site.clock.advance(SECOND_MS);
    expect((await site.get(id)).status).toBe("in_progress");
  });
});
