import { describe, expect, test } from "bun:test";
import {
  addMaintenanceUpdate,
  advanceMaintenance,
  planMaintenance,
} from "../../../../src/features/maintenance";
import { removePage } from "../../../../src/features/pages";
import type { ProbeResult } from "../../../../src/features/monitors/probe";
import { CLI_ACTOR } from "../../../../src/domain/actor";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../../src/kernel/time";
import { answers, fails, openWatch, type Watch } from "../../../support/engine-site";

/** A page with one component, and a maintenance on it from now on for ten minutes. */
async function openSite() {
  const watch = await openWatch();
  const { page, components } = await watch.app.page({}, ["API"]);
  const api = components["API"] ?? "";
  const { id } = await watch.monitor({
    component_ids: [api],
    failure_threshold: 1,
    open_incident: "automatic",
  });
  await watch.clock.advance(MINUTE_MS + SECOND_MS);
  return { watch, page, api, id };
}

async function plan({ app, clock }: Watch, api: string): Promise<string> {
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
async function complete({ app }: Watch, id: string): Promise<void> {
  const input = { status: "completed", body: "Done." } as const;
  await app.ctx.db.write((tx) => addMaintenanceUpdate(app.ctx, tx, id, input, CLI_ACTOR));
}

/** Lets time pass, with the clock of maintenance. */
async function pass({ app, clock }: Watch, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await clock.advance(MINUTE_MS);
    await app.ctx.db.write((tx) => advanceMaintenance(app.ctx, tx, clock.now()));
    await clock.advance(20);
  }
}

describe("monitors during maintenance", () => {
  test("a monitor in maintenance runs checks without causes, events or incidents", async () => {
    const { watch, page, api, id } = await openSite();
    await using _ = watch;
    await plan(watch, api);
    await pass(watch, 1);
    expect(watch.state(id)).toBe("maintenance");
    watch.let("api.test", fails());
    const before = watch.checks(id).length;
    await pass(watch, 5);
    expect(watch.checks(id).length).toBeGreaterThanOrEqual(before + 4);
    expect(watch.checks(id).at(-1)?.outcome).toBe("failed");
    expect(watch.state(id)).toBe("maintenance");
    expect(watch.status(api)).toBe("under_maintenance");
    expect(watch.marks(page.id)).toEqual([]);
    expect(watch.told()).toEqual([]);
    expect(watch.app.events().filter(({ type }) => type.startsWith("incident."))).toEqual([]);
  });

  test("the cause of a down monitor ends when its maintenance starts", async () => {
    const { watch, page, api, id } = await openSite();
    await using _ = watch;
    watch.let("api.test", fails());
    await pass(watch, 2);
    expect(watch.status(api)).toBe("major_outage");
    await plan(watch, api);
    await pass(watch, 1);
    expect(watch.state(id)).toBe("maintenance");
    expect(watch.marks(page.id)).toHaveLength(1);
    expect(watch.marks(page.id)[0]).not.toEndWith("→");
  });
});

test("deleting a page ends the maintenance of its monitors, even with an open cause", async () => {
  const { watch, page, api, id } = await openSite();
  await using _ = watch;
  const { ctx } = watch.app;
  await plan(watch, api);
  await pass(watch, 1);
  expect(watch.state(id)).toBe("maintenance");
  await ctx.db.write((tx) => removePage(ctx, tx, page.id, CLI_ACTOR));
  await pass(watch, 2);
  expect(watch.state(id)).toBe("up");
});

describe("monitors after maintenance", () => {
  test("a monitor is checked soon after its maintenance, without earlier failures", async () => {
    const { watch, api, id } = await openSite();
    await using _ = watch;
    await plan(watch, api);
    await pass(watch, 1);
    watch.let("api.test", fails());
    await pass(watch, 9);
    watch.let("api.test", answers());
    await pass(watch, 2);
    expect(watch.state(id)).toBe("up");
    expect(
      watch
        .timeline(id)
        .slice(-2)
        .map((span) => span.split(" ")[0]),
    ).toEqual(["maintenance", "up"]);
    expect(watch.told()).toEqual([]);
    expect(watch.status(api)).toBe("operational");
  });

  test("a monitor that fails after its maintenance is down from the end of it", async () => {
    const { watch, page, api, id } = await openSite();
    await using _ = watch;
    await plan(watch, api);
    await pass(watch, 1);
    watch.let("api.test", fails());
    await pass(watch, 12);
    expect(watch.state(id)).toBe("down");
    const since = Number(/down (\d+(?:\.\d+)?)/.exec(watch.timeline(id).at(-1) ?? "")?.[1]);
    const ended = (watch.app.events().find(({ type }) => type === "maintenance.completed")?.data[
      "completed_at"
    ] ?? "") as string;
    expect(watch.begin + since * 1000).toBeGreaterThanOrEqual(Date.parse(ended));
    expect(watch.marks(page.id)).toHaveLength(1);
    expect(watch.told()).toEqual(["monitor.down"]);
  });

  test("a failure that was found in maintenance does not count if it is written after the end", async () => {
    const { watch, page, api, id } = await openSite();
    await using _ = watch;
    const maintenance = await plan(watch, api);
    await pass(watch, 1);
    watch.let("api.test", fails());
    const before = watch.asked();
    const written = watch.checks(id).length;
    while (watch.asked() === before) await watch.clock.advance(10);
    watch.let("api.test", answers());
    await complete(watch, maintenance);
    expect(watch.checks(id)).toHaveLength(written);
    await pass(watch, 1);
    expect(watch.checks(id)[written]?.outcome).toBe("failed");
    expect(watch.state(id)).toBe("up");
    expect(watch.marks(page.id)).toEqual([]);
    expect(watch.told()).toEqual([]);
  });

  test("a check that began in maintenance does not count if it fails after the end", async () => {
    const { watch, page, api, id } = await openSite();
    await using _ = watch;
    const maintenance = await plan(watch, api);
    await pass(watch, 1);
    const { promise, resolve } = Promise.withResolvers<ProbeResult>();
    watch.let("api.test", () => promise);
    const before = watch.asked();
    while (watch.asked() === before) await watch.clock.advance(10);
    watch.let("api.test", answers());
    await complete(watch, maintenance);
    await watch.clock.advance(SECOND_MS);
    resolve({ outcome: "failed", latencyMs: null, message: "The connection was refused." });
    await pass(watch, 1);
    expect(watch.state(id)).toBe("up");
    expect(watch.marks(page.id)).toEqual([]);
    expect(watch.told()).toEqual([]);
  });
});
