import { describe, expect, test } from "bun:test";
import { advanceMaintenance } from "../../../../src/features/maintenance/clock";
import { removePage } from "../../../../src/features/pages/pages";
import type { ProbeResult } from "../../../../src/features/monitors/monitoring";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import { answers, fails, openEngineSite, type EngineSite } from "../../../support/engine-site";
import { addMaintenanceUpdate, planMaintenance } from "../../../support/examined";

/** A page with one component, and a maintenance on it from now on for ten minutes. */
async function openSite() {
  const site = await openEngineSite();
  const { page, components } = await site.app.page({}, ["API"]);
  const api = components["API"] ?? "";
  const { id } = await site.monitor({
    component_ids: [api],
    failure_threshold: 1,
    open_incident: "automatic",
  });
  await site.clock.advance(MINUTE_MS + SECOND_MS);
  return { site, page, api, id };
}

async function plan({ app, clock }: EngineSite, api: string): Promise<string> {
  const now = clock.now();
  const input = {
    page: "acme",
    name: "Upgrade",
    body: "A moment.",
    components: [api],
    scheduled_for: toIso(now + MINUTE_MS),
    scheduled_until: toIso(now + 11 * MINUTE_MS),
  };
  const write = app.ctx.db.write((tx) => planMaintenance(app.ctx, tx, input, CLI_ACTOR));
  return (await write).id;
}

/** Completes a maintenance now. */
async function complete({ app }: EngineSite, id: string): Promise<void> {
  const input = { status: "completed", body: "Done." } as const;
  await app.ctx.db.write((tx) => addMaintenanceUpdate(app.ctx, tx, id, input, CLI_ACTOR));
}

/** Lets time pass, with the clock of maintenance. */
async function pass({ app, clock }: EngineSite, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await clock.advance(MINUTE_MS);
    await app.ctx.db.write((tx) => advanceMaintenance(app.ctx, tx, clock.now()));
    await clock.advance(20);
  }
}

describe("monitors during maintenance", () => {
  test("a monitor in maintenance runs checks without causes, events or incidents", async () => {
    const { site, page, api, id } = await openSite();
    await using _ = site;
    await plan(site, api);
    await pass(site, 1);
    expect(site.state(id)).toBe("maintenance");
    site.let("api.test", fails());
    const before = site.checks(id).length;
    await pass(site, 5);
    expect(site.checks(id).length).toBeGreaterThanOrEqual(before + 4);
    expect(site.checks(id).at(-1)?.outcome).toBe("failed");
    expect(site.state(id)).toBe("maintenance");
    expect(site.status(api)).toBe("under_maintenance");
    expect(site.causes(page.id)).toEqual([]);
    expect(site.eventTypes()).toEqual([]);
    expect(site.app.events().filter(({ type }) => type.startsWith("incident."))).toEqual([]);
  });

  test("the cause of a down monitor ends when its maintenance starts", async () => {
    const { site, page, api, id } = await openSite();
    await using _ = site;
    site.let("api.test", fails());
    await pass(site, 2);
    expect(site.status(api)).toBe("major_outage");
    await plan(site, api);
    await pass(site, 1);
    expect(site.state(id)).toBe("maintenance");
    expect(site.causes(page.id)).toHaveLength(1);
    expect(site.causes(page.id)[0]).not.toEndWith("→");
  });
});

test("deleting a page ends the maintenance of its monitors, even with an open cause", async () => {
  const { site, page, api, id } = await openSite();
  await using _ = site;
  const { ctx } = site.app;
  await plan(site, api);
  await pass(site, 1);
  expect(site.state(id)).toBe("maintenance");
  await ctx.db.write((tx) => removePage(ctx, tx, page.id, CLI_ACTOR));
  await pass(site, 2);
  expect(site.state(id)).toBe("up");
});

describe("monitors after maintenance", () => {
  test("a monitor is checked soon after its maintenance, without earlier failures", async () => {
    const { site, api, id } = await openSite();
    await using _ = site;
    await plan(site, api);
    await pass(site, 1);
    site.let("api.test", fails());
    await pass(site, 9);
    site.let("api.test", answers());
    await pass(site, 2);
    expect(site.state(id)).toBe("up");
    expect(
      site
        .timeline(id)
        .slice(-2)
        .map((span) => span.split(" ")[0]),
    ).toEqual(["maintenance", "up"]);
    expect(site.eventTypes()).toEqual([]);
    expect(site.status(api)).toBe("operational");
  });

  test("a monitor that fails after its maintenance is down from the end of it", async () => {
    const { site, page, api, id } = await openSite();
    await using _ = site;
    await plan(site, api);
    await pass(site, 1);
    site.let("api.test", fails());
    await pass(site, 12);
    expect(site.state(id)).toBe("down");
    const since = Number(/down (\d+(?:\.\d+)?)/.exec(site.timeline(id).at(-1) ?? "")?.[1]);
    const ended = (site.app.events().find(({ type }) => type === "maintenance.completed")?.data[
      "completed_at"
    ] ?? "") as string;
    expect(site.begin + since * 1000).toBeGreaterThanOrEqual(Date.parse(ended));
    expect(site.causes(page.id)).toHaveLength(1);
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("a failure that was found in maintenance does not count if it is written after the end", async () => {
    const { site, page, api, id } = await openSite();
    await using _ = site;
    const maintenance = await plan(site, api);
    await pass(site, 1);
    site.let("api.test", fails());
    const before = site.checkCount();
    const written = site.checks(id).length;
    while (site.checkCount() === before) await site.clock.advance(10);
    site.let("api.test", answers());
    await complete(site, maintenance);
    expect(site.checks(id)).toHaveLength(written);
    await pass(site, 1);
    expect(site.checks(id)[written]?.outcome).toBe("failed");
    expect(site.state(id)).toBe("up");
    expect(site.causes(page.id)).toEqual([]);
    expect(site.eventTypes()).toEqual([]);
  });

  test("a check that began in maintenance does not count if it fails after the end", async () => {
    const { site, page, api, id } = await openSite();
    await using _ = site;
    const maintenance = await plan(site, api);
    await pass(site, 1);
    const { promise, resolve } = Promise.withResolvers<ProbeResult>();
    site.let("api.test", () => promise);
    const before = site.checkCount();
    while (site.checkCount() === before) await site.clock.advance(10);
    site.let("api.test", answers());
    await complete(site, maintenance);
    await site.clock.advance(SECOND_MS);
    resolve({ outcome: "failed", latencyMs: null, message: "The connection was refused." });
    await pass(site, 1);
    expect(site.state(id)).toBe("up");
    expect(site.causes(page.id)).toEqual([]);
    expect(site.eventTypes()).toEqual([]);
  });
});
