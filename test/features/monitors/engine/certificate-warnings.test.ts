import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { NEWEST } from "../../../../src/base/ids";
import { pauseMonitor, resumeMonitor } from "../../../../src/features/monitors/monitors";
import { createUser } from "../../../../src/features/users/users";
import type { CreateWebhookBody } from "../../../../src/features/webhooks/wire";
import { listDeliveries } from "../../../../src/features/webhooks/deliveries";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { createTestEgress } from "../../../support/egress";
import { openEngineSite, type Target } from "../../../support/engine-site";
import { probe } from "../../../support/probe";
import { startTlsServer } from "../../../support/raw-server";
import { createWebhook } from "../../../support/examined";

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

/** Settings with which e-mail can be sent. */
const MAIL = {
  ALLCLEAR_BASE_URL: "https://status.example.com",
  ALLCLEAR_SMTP_HOST: "relay.test",
  ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
};

/** Opens a site whose monitors `api` and `web`, of different pages, see a certificate that expires in a week. */
async function openSharedSite() {
  const site = await openEngineSite({ env: MAIL });
  const { ctx } = site.app;
  const components = await Promise.all(
    ["east", "west"].map(
      async (slug) => (await site.app.page({ slug, name: slug }, ["C"])).components,
    ),
  );
  const ids = { api: "", web: "" };
  const add = async (name: "api" | "web") => {
    const component_ids = Object.values(components[name === "api" ? 0 : 1] ?? {});
    ids[name] = (await site.monitor({ name, component_ids, paused: true })).id;
    site.let(`${name}.test`, shows(site.begin + 7 * DAY_MS));
  };
  await add("api");
  await add("web");
  /** Checks a monitor once. */
  const check = async (name: "api" | "web") => {
    await ctx.db.write((tx) => resumeMonitor(ctx, tx, ids[name], CLI_ACTOR));
    await site.clock.advance(2 * SECOND_MS);
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, ids[name], CLI_ACTOR));
    await site.clock.advance(2 * SECOND_MS);
  };
  const webhook = async (input: Partial<CreateWebhookBody>) => {
    const url = "https://receiver.example.com/hooks";
    const made = await ctx.db.write((tx) =>
      createWebhook(ctx, tx, { url, ...input } as CreateWebhookBody, CLI_ACTOR),
    );
    return made.row.id;
  };
  /** Names of the monitors of the warnings that an endpoint got, oldest first. */
  const warningsOf = (webhookId: string) => {
    const all = { webhookId, status: null, before: NEWEST, limit: 100 };
    const eventIds = listDeliveries(ctx.db, all).map(({ row }) => row.eventId);
    return site.app
      .events()
      .filter(({ id, type }) => type === TYPE && eventIds.includes(id))
      .map(({ subjectId }) => (subjectId === ids.api ? "api" : "web"));
  };
  return { site, ctx, ids, check, webhook, warningsOf };
}

describe("receivers of events about a certificate that two monitors see", () => {
  test("each webhook gets one event, of the first monitor to which it subscribes", async () => {
    const { site, ctx, ids, check, webhook, warningsOf } = await openSharedSite();
    await using _ = site;
    await ctx.db.write((tx) =>
      createUser(ctx, tx, { email: "ada@example.com", name: "Ada", role: "owner" }, CLI_ACTOR),
    );
    const mail = { format: "email", url: "mailto:ada@example.com" } as const;
    const all = await webhook({});
    const both = await webhook({ monitors: [ids.web, ids.api] });
    const web = await webhook({ monitors: [ids.web] });
    const page = await webhook({ page: "west" });
    const mailed = await webhook({ ...mail, monitors: [ids.web] });
    const none = await webhook({ monitors: [] });
    const others = await webhook({ events: ["monitor.down"] });
    for (const name of ["api", "api", "web", "web", "api"] as const) await check(name);
    expect(warningsOf(all)).toEqual(["api"]);
    expect(warningsOf(both)).toEqual(["api"]);
    expect(warningsOf(web)).toEqual(["web"]);
    expect(warningsOf(page)).toEqual(["web"]);
    expect(warningsOf(mailed)).toEqual(["web"]);
    expect(warningsOf(none)).toEqual([]);
    expect(warningsOf(others)).toEqual([]);
    expect(site.app.events().filter(({ type }) => type === TYPE)).toHaveLength(2);
  });

  test("each webhook gets one event at the next step too", async () => {
    const { site, ids, check, webhook, warningsOf } = await openSharedSite();
    await using _ = site;
    const all = await webhook({});
    const web = await webhook({ monitors: [ids.web] });
    await check("api");
    await check("web");
    site.clock.setWallClock(site.begin + 4 * DAY_MS + HOUR_MS);
    await site.clock.advance(20 * SECOND_MS);
    await check("web");
    await check("api");
    expect(warningsOf(all)).toEqual(["api", "web"]);
    expect(warningsOf(web)).toEqual(["web", "web"]);
  });

  test("without a webhook for some monitors there is one event", async () => {
    const { site, check, webhook, warningsOf } = await openSharedSite();
    await using _ = site;
    const all = await webhook({});
    await check("web");
    await check("api");
    expect(warningsOf(all)).toEqual(["web"]);
    expect(site.app.events().filter(({ type }) => type === TYPE)).toHaveLength(1);
  });
});
