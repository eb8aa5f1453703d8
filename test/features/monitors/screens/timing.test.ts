import { describe, expect, test } from "bun:test";
import { listAllMonitors } from "../../../../src/features/monitors/store";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createMonitorDashboard,
  type MonitorDashboard,
  MONITORS,
  revealedToken,
} from "../../../support/monitor-dashboard";

const PUSH = { type: "push", name: "Backup" } as const;
const NIGHTLY = {
  ...PUSH,
  timing: "schedule",
  config_schedule: "30 2 * * *",
  config_time_zone: "Europe/Berlin",
};

/** Returns interval and config of the only monitor. */
function storedTiming({ app }: MonitorDashboard) {
  const monitor = listAllMonitors(app.ctx.db, {}).at(0)?.monitor;
  return { interval: monitor?.intervalSeconds, config: monitor?.config };
}

const dueTimesOn = (html: string) => readHtml(html).texts('[role="status"] .notice li');

describe("the form of a push monitor", () => {
  test("a push monitor is created with a schedule and its time zone", async () => {
    await using dashboard = await createMonitorDashboard();
    revealedToken(await dashboard.create(NIGHTLY));
    expect(storedTiming(dashboard)).toEqual({
      interval: null,
      config: { schedule: "30 2 * * *", time_zone: "Europe/Berlin" },
    });
  });

  test("a push monitor is created with an interval, or without a deadline", async () => {
    await using interval = await createMonitorDashboard();
    await interval.create({ ...PUSH, timing: "interval", interval_seconds: "90" });
    expect(storedTiming(interval)).toMatchObject({ interval: 90 });
    await using none = await createMonitorDashboard();
    await none.create({ ...PUSH, timing: "none", interval_seconds: "90" });
    expect(storedTiming(none)).toMatchObject({ interval: null });
  });

  test.each([
    [
      "an empty schedule",
      { ...NIGHTLY, config_schedule: " " },
      "config_schedule",
      "Schedule is empty.",
    ],
    [
      "an invalid schedule",
      { ...NIGHTLY, config_schedule: "30 25 * * *" },
      "config_schedule",
      "Schedule has no valid hour: 25.",
    ],
    [
      "an unknown time zone",
      { ...NIGHTLY, config_time_zone: "Mars" },
      "config_time_zone",
      "Time zone of the schedule must be a time zone, such as Europe/Berlin.",
    ],
    [
      "an empty interval",
      { ...PUSH, timing: "interval", interval_seconds: "" },
      "interval_seconds_other",
      "Interval in seconds must be a whole number from 5 to 31,536,000.",
    ],
    [
      "a schedule beside an interval",
      { ...PUSH, timing: "interval", config_schedule: "30 2 * * *" },
      "timing",
      "Select “By a schedule”, or clear the schedule.",
    ],
  ])("a form with %s is shown again with an error", async (_, fields, input, error) => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const answer = await dashboard.create(fields);
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ [input]: error });
    expect(dashboard.written()).toEqual(before);
  });

  test("a stored schedule fills the form, and an unchanged form changes nothing", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({
      ...PUSH,
      config: { schedule: "0 3 * * *", time_zone: "Asia/Tokyo" },
    });
    const form = (await dashboard.open(`${MONITORS}/${id}/edit`)).text;
    expect(typedIn(form, "timing")).toEqual(["schedule"]);
    expect(typedIn(form, "config_schedule")).toEqual(["0 3 * * *"]);
    expect(typedIn(form, "config_time_zone")).toEqual(["Asia/Tokyo"]);
    const before = dashboard.written();
    expect((await dashboard.edit(id, {})).status).toBe(303);
    expect(dashboard.written()).toEqual(before);
    const screen = (await dashboard.open(`${MONITORS}/${id}`)).text;
    expect(screen).toContain("at 0 3 * * * (Asia/Tokyo)");
    // 03:00 in Tokyo, six hours after the creation.
    expect(screen).toMatch(/Next call due<\/dt><dd[^>]*><time datetime="2026-03-10T18:00:00.000Z"/);
  });

  test("a form changes a schedule to an interval, none and back", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ ...PUSH, config: { schedule: "0 3 * * *" } });
    const change = async (fields: Record<string, string>) => {
      expect((await dashboard.edit(id, fields)).status).toBe(303);
      return storedTiming(dashboard);
    };
    expect(await change({ config_schedule: "0 4 * * *" })).toEqual({
      interval: null,
      config: { schedule: "0 4 * * *" },
    });
    expect(await change({ timing: "interval", interval_seconds: "600" })).toEqual({
      interval: 600,
      config: {},
    });
    expect(await change({ timing: "schedule", config_schedule: "0 5 * * *" })).toEqual({
      interval: null,
      config: { schedule: "0 5 * * *" },
    });
    expect(await change({ timing: "none" })).toEqual({ interval: null, config: {} });
  });

  test("a clone of a push monitor has its schedule", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ ...PUSH, config: { schedule: "0 3 * * *" } });
    const form = (await dashboard.open(`${MONITORS}/new?type=push&from=${id}`)).text;
    expect(typedIn(form, "timing")).toEqual(["schedule"]);
    expect(typedIn(form, "config_schedule")).toEqual(["0 3 * * *"]);
  });
});

describe("the due times of a schedule before it is saved", () => {
  test("the next five due times are shown in the time zone of the schedule, and nothing is saved", async () => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const fields = { ...NIGHTLY, config_schedule: "30 2 28-31 3 *", name: "", intent: "check" };
    const answer = await dashboard.create(fields);
    expect(answer.status).toBe(200);
    expect(dueTimesOn(answer.text)).toEqual([
      "Europe/Berlin: Sat, 28 Mar 2026, 02:30 CET",
      "Europe/Berlin: Sun, 29 Mar 2026, 03:00 CEST",
      "Europe/Berlin: Mon, 30 Mar 2026, 02:30 CEST",
      "Europe/Berlin: Tue, 31 Mar 2026, 02:30 CEST",
      "Europe/Berlin: Sun, 28 Mar 2027, 03:00 CEST",
    ]);
    expect(typedIn(answer.text, "config_schedule")).toEqual(["30 2 28-31 3 *"]);
    expect(dashboard.written()).toEqual(before);
  });

  test("an existing monitor shows the due times of the typed schedule, and of an interval that there is none", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ ...PUSH, config: { schedule: "0 3 * * *" } });
    const before = dashboard.written();
    const answer = await dashboard.edit(id, { config_schedule: "0 0 29 2 *", intent: "check" });
    expect(dueTimesOn(answer.text)).toHaveLength(5);
    expect(dueTimesOn(answer.text)[0]).toBe("UTC: Tue, 29 Feb 2028, 00:00 UTC");
    const none = await dashboard.edit(id, { timing: "none", intent: "check" });
    expect(readHtml(none.text).texts('[role="status"] .notice')[0]).toStartWith(
      "There is no schedule",
    );
    expect(dashboard.written()).toEqual(before);
  });

  test("an invalid schedule shows its error instead of due times", async () => {
    await using dashboard = await createMonitorDashboard();
    const answer = await dashboard.create({ ...NIGHTLY, config_schedule: "x", intent: "check" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["config_schedule"]);
  });
});
