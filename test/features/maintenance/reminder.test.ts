import { describe, expect, test } from "bun:test";
import { startMaintenanceClock } from "../../../src/features/maintenance/clock";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { settle } from "../../support/clock";
import { at, createMaintenanceSite, type MaintenanceSite } from "../../support/maintenance-site";

function reminders(site: MaintenanceSite): number {
  return site.eventTypes().filter((type) => type === "maintenance.reminder").length;
}

describe("a reminder", () => {
  test("a reminder is recorded once, by default an hour before the start, and does not change the maintenance", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan();
    await site.plan({ remind_minutes_before: 90 });
    await site.skip(30 * MINUTE_MS);
    expect(reminders(site)).toBe(1);
    await site.skip(29 * MINUTE_MS);
    const before = await site.get(id);
    await site.clock.advance(MINUTE_MS - SECOND_MS);
    expect(reminders(site)).toBe(1);
    await site.clock.advance(SECOND_MS);
    expect(reminders(site)).toBe(2);
    expect(await site.get(id)).toEqual(before);
    expect(site.app.events().at(-1)).toMatchObject({
      type: "maintenance.reminder",
      subjectId: id,
      data: { status: "scheduled", version: 1, latest_update: { status: "scheduled" } },
    });
    await site.skip(58 * MINUTE_MS);
    expect(reminders(site)).toBe(2);
  });

  test("a reminder is recorded for a manual start, but not if it is disabled or the maintenance cancelled", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    await site.plan({ auto_start: false });
    await site.plan({ remind_minutes_before: null });
    await site.cancel(await site.plan());
    await site.skip(90 * MINUTE_MS);
    expect(reminders(site)).toBe(1);
    await site.skip(2 * HOUR_MS);
    expect(reminders(site)).toBe(1);
  });

  test("a reminder is recorded again if the start is moved", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan();
    await site.skip(90 * MINUTE_MS);
    expect(reminders(site)).toBe(1);
    await site.patch(id, { name: "Another name" });
    await site.clock.advance(SECOND_MS);
    expect(reminders(site)).toBe(1);
    await site.patch(id, { scheduled_for: at("16:00:00"), scheduled_until: at("17:00:00") });
    await site.skip(89 * MINUTE_MS);
    expect(reminders(site)).toBe(1);
    await site.clock.advance(MINUTE_MS);
    expect(reminders(site)).toBe(2);
  });

  test("a reminder whose time has already passed at planning is skipped", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan({ scheduled_for: at("12:30:00") });
    await site.clock.advance(MINUTE_MS);
    expect(reminders(site)).toBe(0);
    await site.patch(id, { remind_minutes_before: 10 });
    await site.skip(20 * MINUTE_MS);
    expect(reminders(site)).toBe(1);
  });

  test("a missed reminder is recorded late before the start, and never after it", async () => {
    await using site = await createMaintenanceSite();
    await site.plan({ name: "Soon" });
    await site.plan({ name: "Begun", scheduled_for: at("13:20:00") });
    await site.clock.advance(90 * MINUTE_MS);
    const timer = startMaintenanceClock(site.app.ctx);
    await settle();
    const events = site.app
      .events()
      .slice(2)
      .filter(({ type }) => type.startsWith("maintenance."));
    expect(events.map(({ type, data }) => `${data["name"]}: ${type}`)).toEqual([
      "Soon: maintenance.reminder",
      "Begun: maintenance.started",
    ]);
    timer.cancel();
  });
});
