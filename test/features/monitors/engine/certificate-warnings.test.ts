import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/kernel/time";
import { createTestEgress } from "../../../support/egress";
import { openEngineSite, type Target } from "../../../support/engine-site";
import { probe } from "../../../support/probe";
import { startTlsServer } from "../../../support/raw-server";

const TYPE = "monitor.certificate_expiring";
/** End of the tests' certificate. */
const AT_THE_END = Date.UTC(2099, 0);

const shows =
  (expiresAt: number, fingerprint = "5e".repeat(32)): Target =>
  () => ({
    outcome: "ok",
    latencyMs: 20,
    message: null,
    certificate: { host: "api.test", fingerprint, expiresAt },
  });

/** Opens a site whose monitor sees a certificate that expires after `days`. */
async function openSite(days: number, fingerprint?: string) {
  const site = await openEngineSite();
  const expiresAt = site.begin + days * DAY_MS;
  site.let("api.test", shows(expiresAt, fingerprint));
  const { id } = await site.monitor();
  const daysLeft = () =>
    site.app
      .events()
      .filter(({ type }) => type === TYPE)
      .map(({ data }) => data["days_left"]);
  return { site, id, expiresAt, daysLeft };
}

/** Stops the server for some days. */
async function passAway(site: Awaited<ReturnType<typeof openEngineSite>>, days: number) {
  site.kill();
  site.clock.setWallClock(site.clock.now() + days * DAY_MS);
  await site.start();
  await site.clock.advance(2 * MINUTE_MS);
}

describe("events about certificates", () => {
  test("a real server's certificate is reported 14, 7, 3 and 1 days before its end, once each", async () => {
    await using server = await startTlsServer("good", () => {});
    await using site = await openEngineSite();
    const { id } = await site.monitor({ name: "api" });
    site.kill();
    const found: [number, unknown][] = [];
    for (let hoursLeft = 15 * 24; hoursLeft > -24; hoursLeft -= 12) {
      site.clock.setWallClock(AT_THE_END - hoursLeft * HOUR_MS);
      const names = { "shop.test": [["127.0.0.1"]] };
      const { egress } = await createTestEgress(names, { clock: site.clock });
      const config = { host: "shop.test", port: server.port, days: 0 };
      const result = await probe("tls", config, { context: { egress, clock: site.clock } });
      site.let("api.test", () => result);
      const before = site.app.events().length;
      await site.start();
      await site.clock.advance(2 * MINUTE_MS);
      site.kill();
      for (const { type, data } of site.app.events().slice(before)) {
        if (type === TYPE) found.push([hoursLeft / 24, data["days_left"]]);
      }
    }
    expect(found).toEqual([
      [14, 14],
      [7, 7],
      [3, 3],
      [1, 1],
    ]);
    const event = site.app.events().find(({ type }) => type === TYPE);
    expect(event).toMatchObject({
      subjectId: id,
      pageId: null,
      data: {
        monitor: { id, name: "api" },
        host: "shop.test",
        not_after: "2099-01-01T00:00:00.000Z",
      },
    });
  });

  test("after a time without checks only the nearest step is reported", async () => {
    const { site, daysLeft } = await openSite(30);
    await using _ = site;
    await site.clock.advance(2 * MINUTE_MS);
    expect(daysLeft()).toEqual([]);
    await passAway(site, 25);
    expect(daysLeft()).toEqual([5]);
    await passAway(site, 3);
    expect(daysLeft()).toEqual([5, 2]);
  });

  test("an expired certificate is not reported", async () => {
    const { site, daysLeft } = await openSite(-1);
    await using _ = site;
    await site.clock.advance(2 * MINUTE_MS);
    expect(daysLeft()).toEqual([]);
  });

  test("a renewed certificate is reported again, one that two monitors see once", async () => {
    const { site, daysLeft } = await openSite(7);
    await using _ = site;
    await site.monitor({ name: "web" });
    site.let("web.test", shows(site.begin + 7 * DAY_MS));
    await site.clock.advance(5 * MINUTE_MS);
    expect(daysLeft()).toEqual([7]);
    site.let("web.test", shows(site.begin + 7 * DAY_MS, "6f".repeat(32)));
    await site.clock.advance(2 * MINUTE_MS);
    expect(daysLeft()).toEqual([7, 7]);
  });

  test("a restart does not repeat a report", async () => {
    const { site, daysLeft } = await openSite(14);
    await using _ = site;
    await site.clock.advance(2 * MINUTE_MS);
    site.kill();
    await site.start();
    await site.clock.advance(5 * MINUTE_MS);
    expect(daysLeft()).toEqual([14]);
  });
});
