import { describe, expect, test } from "bun:test";
import { HOUR_MS, SECOND_MS } from "../../../src/base/time";
import { expectProblem } from "../../support/app";
import { openForm } from "../../support/dashboard";
import { createMaintenanceDashboard, MAINTENANCE } from "../../support/maintenance-dashboard";
import { createMaintenanceSite, type MaintenanceSite } from "../../support/maintenance-site";

/** Plans a maintenance with 250 updates, the first included. */
async function planFull(site: MaintenanceSite): Promise<string> {
  const id = await site.plan();
  const updates = Array.from({ length: 249 }, () => site.update(id, { body: "More." }));
  expect((await Promise.all(updates)).every(({ status }) => status === 201)).toBe(true);
  return id;
}

describe("the updates of a maintenance", () => {
  test("update 251 of a maintenance is a conflict that suggests a new maintenance", async () => {
    await using site = await createMaintenanceSite();
    const id = await planFull(site);
    const before = await site.state();
    for (const input of [{ body: "More." }, { body: "Now.", status: "in_progress" }]) {
      expect(expectProblem(await site.update(id, input), "conflict").detail).toBe(
        "The maintenance has 250 updates, the most that it can have. Complete or cancel it, or plan a new maintenance for what follows.",
      );
    }
    expect(await site.state()).toEqual(before);
  });

  test("a full maintenance can be cancelled by an update or by POST of cancel", async () => {
    await using site = await createMaintenanceSite();
    const cancelledId = await planFull(site);
    expect((await site.update(cancelledId, { body: "No.", status: "cancelled" })).status).toBe(201);
    const cancelled = await planFull(site);
    expect((await site.cancel(cancelled)).status).toBe(200);
    expect((await site.get(cancelled)).updates).toHaveLength(251);
  });

  test("a full maintenance can be completed by an update", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.update(id, { body: "Now.", status: "in_progress" });
    await Promise.all(Array.from({ length: 248 }, () => site.update(id, { body: "More." })));
    expectProblem(await site.update(id, { body: "More." }), "conflict");
    expect((await site.update(id, { body: "Done.", status: "completed" })).status).toBe(201);
  });

  test("the clock starts and completes a full maintenance", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await planFull(site);
    // Each second of the running clock is two turns, and three hours would be 21,600.
    await site.skip(2 * HOUR_MS - SECOND_MS);
    expect((await site.get(id)).status).toBe("scheduled");
    await site.clock.advance(SECOND_MS);
    expect((await site.get(id)).status).toBe("in_progress");
    await site.skip(HOUR_MS - SECOND_MS);
    await site.clock.advance(SECOND_MS);
    expect(await site.get(id)).toMatchObject({ status: "completed" });
  });
});

describe("the form for the next update of a full maintenance", () => {
  test("the update form of a full maintenance keeps the typed text and shows the reason", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const id = await planFull(dashboard.site);
    const path = `${MAINTENANCE}/${id}`;
    const form = await openForm(dashboard.site.app, path, dashboard.session);
    const update = { form, body: "One too many.", status: "", display_at: "", notify: "yes" };
    const rejected = await dashboard.send(path, update);
    expect(rejected.status).toBe(409);
    expect(rejected.text).toContain("The maintenance has 250 updates");
    expect(rejected.text).toContain("One too many.");
  });
});
