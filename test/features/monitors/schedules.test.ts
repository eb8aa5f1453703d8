import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createMonitorApi, type MonitorApi } from "../../support/monitor-api";

const PUSH = { type: "push", name: "Backup" };
const NIGHTLY = { schedule: "0 3 * * *", time_zone: "Europe/Berlin" };
const BOTH = "must be null, since the schedule tells when calls are due";

/** Returns the errors of an answer as pointer and detail. Expects that nothing was written. */
async function rejected(api: MonitorApi, send: () => Promise<{ body: unknown; status: number }>) {
  const before = api.written();
  const { body, status } = await send();
  expect(status).toBe(422);
  expect(api.written()).toEqual(before);
  return (body as { errors: { pointer: string; detail: string }[] }).errors;
}

describe("push monitors with a schedule", () => {
  test("a push monitor with a schedule has no interval, and UTC if no time zone is given", async () => {
    await using api = await createMonitorApi();
    const made = await api.create({ ...PUSH, config: NIGHTLY });
    expect(made).toMatchObject({
      interval_seconds: null,
      config: { grace_seconds: 60, ...NIGHTLY },
    });
    const utc = await api.create({
      ...PUSH,
      interval_seconds: null,
      config: { schedule: "*/5 * * * mon-fri", grace_seconds: 31_536_000 },
    });
    expect(utc.config).toEqual({
      grace_seconds: 31_536_000,
      schedule: "*/5 * * * mon-fri",
      time_zone: "UTC",
    });
    const plain = await api.create({ ...PUSH, config: {} });
    expect(plain).toMatchObject({ interval_seconds: 60, config: { grace_seconds: 60 } });
    expect(plain.config).not.toHaveProperty("schedule");
  });

  test.each(["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"])(
    "a push monitor takes the nickname %s as its schedule, and shows it",
    async (schedule) => {
      await using api = await createMonitorApi();
      const { config } = await api.create({ ...PUSH, config: { schedule } });
      expect(config).toMatchObject({ schedule, time_zone: "UTC" });
    },
  );

  test("a schedule and an interval together are rejected", async () => {
    await using api = await createMonitorApi();
    const body = { ...PUSH, interval_seconds: 60, config: NIGHTLY };
    expect(await rejected(api, () => api.post(body))).toEqual([
      { pointer: "#/interval_seconds", detail: BOTH },
    ]);
    const { id } = await api.create({ ...PUSH, config: NIGHTLY });
    expect(await rejected(api, () => api.patch(id, { interval_seconds: 60 }))).toEqual([
      { pointer: "#/interval_seconds", detail: BOTH },
    ]);
    const plain = await api.create({ ...PUSH, config: {} });
    const both = { interval_seconds: 60, config: { schedule: "0 3 * * *" } };
    expect(await rejected(api, () => api.patch(plain.id, both))).toEqual([
      { pointer: "#/interval_seconds", detail: BOTH },
    ]);
  });

  test("a change gives a monitor a schedule instead of its interval, and takes it away", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ ...PUSH, config: { grace_seconds: 300 } });
    const scheduled = await api.patch(id, { config: NIGHTLY });
    expect(scheduled.body).toMatchObject({
      interval_seconds: null,
      config: { grace_seconds: 300, ...NIGHTLY },
    });
    expect((await api.patch(id, { config: { schedule: "30 4 * * *" } })).body.config).toEqual({
      grace_seconds: 300,
      schedule: "30 4 * * *",
      time_zone: "Europe/Berlin",
    });
    const free = await api.patch(id, { config: { schedule: null } });
    expect(free.body).toMatchObject({ interval_seconds: null, config: { grace_seconds: 300 } });
    expect(free.body.config).not.toHaveProperty("time_zone");
    await api.patch(id, { config: NIGHTLY });
    const regular = { interval_seconds: 120, config: { schedule: null } };
    expect((await api.patch(id, regular)).body).toMatchObject({ interval_seconds: 120 });
  });

  test.each([
    ["four fields", { schedule: "0 3 * *" }, "/config/schedule", /^must have five fields/],
    ["seconds", { schedule: "0 0 3 * * *" }, "/config/schedule", /^must have five fields/],
    ["an hour of 25", { schedule: "0 25 * * *" }, "/config/schedule", /^has no valid hour: 25$/],
    ["a day that never comes", { schedule: "0 0 31 2 *" }, "/config/schedule", /^never occurs/],
    ["an empty text", { schedule: "" }, "/config/schedule", /./],
    [
      "a text of 101 characters",
      { schedule: `0 3 * * ${"1,".repeat(46)}1` },
      "/config/schedule",
      /100/,
    ],
    [
      "an unknown time zone",
      { ...NIGHTLY, time_zone: "Mars/Olympus" },
      "/config/time_zone",
      /^must be a time zone/,
    ],
    ["a time zone alone", { time_zone: "UTC" }, "/config/time_zone", /^needs a schedule$/],
    [
      "a grace period above a year",
      { grace_seconds: 31_536_001 },
      "/config/grace_seconds",
      /31,536,000/,
    ],
  ])("a config with %s is rejected", async (_, config, pointer, detail) => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ ...PUSH, config: {} });
    for (const send of [() => api.post({ ...PUSH, config }), () => api.patch(id, { config })]) {
      const [error] = await rejected(api, send);
      expect(error?.pointer).toBe(`#${pointer}`);
      expect(error?.detail).toMatch(detail);
    }
  });

  test("a schedule of another type is rejected", async () => {
    await using api = await createMonitorApi();
    const config = { url: "https://shop.example.com/", ...NIGHTLY };
    expectProblem(await api.post({ type: "http", name: "Shop", config }), "validation_failed");
  });
});
