import { expect, test } from "bun:test";
import { getIncident } from "../../../src/features/incidents/records";
import { getMaintenance } from "../../../src/features/maintenance/records";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";
import { createTestClock } from "../../support/clock";
import { PLAN } from "../../support/maintenance-site";
import { temporaryFolder } from "../../support/temporary-folder";
import {
  addMaintenanceUpdate,
  addUpdate,
  createIncident,
  planMaintenance,
} from "../../support/examined";

test("updates stay in the order of writing after a restart with a clock that was set back", async () => {
  using folder = temporaryFolder();
  const databasePath = `${folder.path}/allclear.db`;
  const clock = createTestClock();
  const made = await (async () => {
    await using app = await createTestApp({ clock, databasePath });
    const { components } = await app.page({ slug: "acme" }, ["API", "Web"]);
    const [api = "", web = ""] = Object.values(components);
    const { ctx } = app;
    return ctx.db.write((tx) => {
      const first = { page: "acme", name: "Errors", body: "One." };
      const named = { components: { [api]: "major_outage" as const } };
      const incident = createIncident(ctx, tx, { ...first, ...named }, "api", CLI_ACTOR).row.id;
      const plan = { ...PLAN, page: "acme", components: [] };
      const maintenance = planMaintenance(ctx, tx, plan, CLI_ACTOR).id;
      addMaintenanceUpdate(ctx, tx, maintenance, { body: "Two." }, CLI_ACTOR);
      return { incident, maintenance, api, web };
    });
  })();

  clock.setWallClock(clock.now() - HOUR_MS);
  await using app = await createTestApp({ clock, databasePath });
  const { ctx } = app;
  await ctx.db.write((tx) => {
    const more = { body: "Two.", components: { [made.web]: "partial_outage" as const } };
    addUpdate(ctx, tx, made.incident, more, CLI_ACTOR);
    addMaintenanceUpdate(ctx, tx, made.maintenance, { body: "Three." }, CLI_ACTOR);
  });
  const { updates, row } = getIncident(ctx.db, made.incident, true);
  expect(updates.map(({ body }) => body)).toEqual(["Two.", "One."]);
  const maintenance = getMaintenance(ctx, ctx.db, made.maintenance);
  expect(maintenance.updates.map(({ body }) => body)).toEqual(["Three.", "Two.", PLAN.body]);

  // What the first update names counts from the start on, what the second names from then on.
  const key = await app.keyWith("read:status");
  const { body } = await app.call("/api/v1/status/acme", { key });
  expect(body.incidents[0].components.map(({ id }: { id: string }) => id)).toEqual([
    made.api,
    made.web,
  ]);
  expect(row.startedAt).toBe(clock.now() + HOUR_MS);
});
