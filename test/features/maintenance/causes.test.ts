import { describe, expect, test } from "bun:test";
import { deleteComponent } from "../../../src/features/components/components";
import { listCausesOf } from "../../../src/features/maintenance/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, toIso } from "../../../src/base/time";
import { at, createMaintenanceSite, type MaintenanceSite } from "../../support/maintenance-site";

const NO_REMINDER = { remind_minutes_before: null };

/** Returns each status change of a component, from its events. */
function changes(site: MaintenanceSite): string[] {
  return site.app
    .events()
    .filter(({ type }) => type === "component.status_changed")
    .map(({ data }) => `${data["name"]} ${data["status"]}`);
}

describe("a component under maintenance", () => {
  test("a component stays under maintenance until all its maintenance has ended", async () => {
    await using site = await createMaintenanceSite();
    const [one, two] = [await site.plan(), await site.plan()];
    await site.update(one, { status: "in_progress", body: "Begun." });
    await site.update(two, { status: "in_progress", body: "Begun." });
    await site.update(one, { status: "completed", body: "Done." });
    expect(await site.statusOf("API")).toBe("under_maintenance");
    await site.cancel(two);
    expect(await site.statusOf("API")).toBe("operational");
    expect(changes(site)).toEqual(["API under_maintenance", "API operational"]);
  });

  test("a component under maintenance shows a worse status, also after the maintenance", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Begun." });
    const key = await site.app.keyWith("write:components");
    const json = { status: "major_outage" };
    await site.app.call(`/api/v1/components/${site.ids["API"]}`, { method: "PATCH", key, json });
    expect(await site.statusOf("API")).toBe("major_outage");
    await site.update(id, { status: "completed", body: "Done." });
    expect(await site.statusOf("API")).toBe("major_outage");
  });

  test("a component that is removed from or added to a maintenance in progress changes its status at once", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan(NO_REMINDER);
    await site.skip(2 * HOUR_MS + 10 * MINUTE_MS);
    await site.patch(id, { components: [site.ids["Web"]] });
    expect(await site.statusOf("API")).toBe("operational");
    expect(await site.statusOf("Web")).toBe("under_maintenance");
    await site.skip(HOUR_MS);
    expect(await site.statusOf("Web")).toBe("operational");
    expect(site.causes()).toEqual([
      { component: "API", from: at("14:00:00"), to: at("14:10:00") },
      { component: "Web", from: at("14:10:00"), to: at("15:00:00") },
    ]);
    expect(changes(site)).toEqual([
      "API under_maintenance",
      "API operational",
      "Web under_maintenance",
      "Web operational",
    ]);
  });

  test("a component added to a scheduled maintenance changes its status only at the start", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const { API, Web } = site.ids;
    const { body } = await site.patch(id, { components: [Web, API] });
    expect(body.components).toEqual([
      { id: API, name: "API" },
      { id: Web, name: "Web" },
    ]);
    expect(changes(site)).toEqual([]);
    await site.update(id, { status: "in_progress", body: "Begun." });
    expect(changes(site)).toEqual(["API under_maintenance", "Web under_maintenance"]);
  });

  test("a component added after a backdated end has no cause", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Begun." });
    await site.skip(30 * MINUTE_MS);
    await site.patch(id, { components: [site.ids["Web"]] });
    const display_at = at("12:20:00");
    await site.update(id, { status: "completed", body: "Long done.", display_at });
    expect(site.causes()).toEqual([{ component: "API", from: at("12:00:00"), to: display_at }]);
    expect(await site.statusOf("Web")).toBe("operational");
  });

  test("two adjoining maintenances keep a component under maintenance without a change in between", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    await site.plan(NO_REMINDER);
    const next = { scheduled_for: at("15:00:00"), scheduled_until: at("16:00:00") };
    await site.plan({ ...NO_REMINDER, ...next });
    await site.skip(2.5 * HOUR_MS);
    await site.skip(HOUR_MS);
    expect(changes(site)).toEqual(["API under_maintenance"]);
    await site.skip(HOUR_MS);
    expect(changes(site)).toEqual(["API under_maintenance", "API operational"]);
  });

  test("a deleted component keeps its name and causes in a maintenance and does not block it", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const { API, Web } = site.ids;
    const id = await site.plan({ ...NO_REMINDER, components: [API, Web] });
    const later = await site.plan({ scheduled_until: at("16:00:00"), auto_start: false });
    await site.skip(2.5 * HOUR_MS);
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteComponent(ctx, tx, API ?? "", CLI_ACTOR));
    // What a reader of the maintenance sends back is what it already has.
    const both = await site.patch(id, { components: [Web, API], name: "Half" });
    expect(both.body.components).toEqual([
      { id: API, name: "API" },
      { id: Web, name: "Web" },
    ]);
    expect((await site.update(later, { status: "in_progress", body: "Begun." })).status).toBe(201);
    await site.skip(HOUR_MS);
    expect((await site.get(id)).status).toBe("completed");
    expect(await site.statusOf("Web")).toBe("operational");
    const ended = listCausesOf(ctx.db, { maintenanceId: id }).map(({ componentId, to }) => [
      componentId,
      toIso(to ?? 0),
    ]);
    expect(Object.fromEntries(ended)).toEqual({
      [API ?? ""]: at("14:30:00"),
      [Web ?? ""]: at("15:00:00"),
    });
    expect(listCausesOf(ctx.db, { maintenanceId: later })).toEqual([]);
  });
});
