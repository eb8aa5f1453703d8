import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { expectProblem } from "../../support/app";
import { settle } from "../../support/clock";
import { openForm } from "../../support/dashboard";
import { createScheduleSite, DAILY } from "../../support/maintenance-schedules";

describe("a maintenance schedule", () => {
  test("is created with its occurrences of the next 30 days, which tell nobody", async () => {
    await using schedules = await createScheduleSite();
    const { site, send, starts, occurrences } = schedules;
    const made = await send("POST", "", { ...DAILY, components: ["acme:api"] });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toEndWith(`/api/v1/maintenance-schedules/${made.body.id}`);
    expect(made.body).toMatchObject({
      ...DAILY,
      ref: "nightly-restart",
      components: [{ id: site.ids["API"], name: "API" }],
      every_days: null,
      starts_on: null,
      ends_on: null,
      remind_minutes_before: 60,
      enabled: true,
      version: 1,
    });
    expect(made.body.id).toStartWith("msc_");
    const times = await starts();
    expect(times).toHaveLength(30);
    expect(times[0]).toBe("2026-03-11T01:00:00.000Z");
    expect(times.at(-1)).toBe("2026-04-09T00:00:00.000Z");
    expect((await occurrences())[0]).toMatchObject({
      name: "Nightly restart",
      scheduled_until: "2026-03-11T02:00:00.000Z",
      schedule_id: made.body.id,
      occurrence_at: "2026-03-11T01:00:00.000Z",
      remind_minutes_before: 60,
      components: [{ id: site.ids["API"], name: "API" }],
    });
    const events = site.app.events().filter(({ type }) => type === "maintenance.scheduled");
    expect(new Set(events.map(({ data }) => data["notify"]))).toEqual(new Set([false]));
    expect(site.app.audit().at(-1)?.action).toBe("maintenance_schedule.create");
  });

  test("is read, listed by page, changed under If-Match and deleted", async () => {
    await using schedules = await createScheduleSite();
    const { site, send, create, starts } = schedules;
    await site.app.page({ slug: "other" }, []);
    const id = await create();
    const other = await create({ page: "other", components: [] });
    const ids = async (query: string) =>
      (await send("GET", query)).body.data.map((each: { id: string }) => each.id);
    expect(await ids("")).toEqual([other, id]);
    expect(await ids("?page=acme")).toEqual([id]);
    const read = await send("GET", `/${id}`);
    const tag = { "If-Match": read.headers.get("etag") ?? "" };
    const changed = await send("PATCH", `/${id}`, { duration_minutes: 30 }, tag);
    expect(changed.body).toMatchObject({ duration_minutes: 30, version: 2 });
    expectProblem(await send("PATCH", `/${id}`, { name: "B" }, tag), "precondition_failed");
    expectProblem(await send("DELETE", `/${id}`, undefined, tag), "precondition_failed");
    const same = await send("PATCH", `/${id}`, { duration_minutes: 30 });
    expect(same.body.version).toBe(2);
    expect((await send("DELETE", `/${other}`)).status).toBe(204);
    expect((await send("DELETE", `/${id}`)).status).toBe(204);
    expectProblem(await send("GET", `/${id}`), "not_found");
    expect(await starts()).toEqual([]);
    const summaries = site.app.audit().map(({ action, summary }) => `${action}: ${summary}`);
    const named = (action: string, word: string) =>
      `maintenance_schedule.${action}: ${word} the maintenance schedule “Nightly restart”`;
    expect(summaries.filter((each) => each.startsWith("maintenance_"))).toEqual([
      named("create", "Created"),
      named("create", "Created"),
      `${named("update", "Changed")}: duration`,
      named("delete", "Deleted"),
      named("delete", "Deleted"),
    ]);
  });

  test("is created once for one Idempotency-Key, with each occurrence once", async () => {
    await using schedules = await createScheduleSite();
    const { send, starts } = schedules;
    const key = { "Idempotency-Key": "one" };
    const first = await send("POST", "", DAILY, key);
    const again = await send("POST", "", DAILY, key);
    expect(again.body).toEqual(first.body);
    expect(await starts()).toHaveLength(30);
  });

  test("needs the scope write:maintenance to be changed, and read:status to be read", async () => {
    await using schedules = await createScheduleSite();
    const { site, create } = schedules;
    const id = await create();
    const path = `/api/v1/maintenance-schedules/${id}`;
    const reader = await site.app.keyWith("read:status");
    const writer = await site.app.keyWith("write:maintenance");
    expect((await site.app.call(path, { key: reader })).status).toBe(200);
    expectProblem(await site.app.call(path, { key: writer }), "insufficient_scope");
    const change = { method: "PATCH", json: { enabled: false } };
    expectProblem(await site.app.call(path, { ...change, key: reader }), "insufficient_scope");
    expect((await site.app.call(path, { ...change, key: writer })).status).toBe(200);
  });

  test.each([
    [{ cron: "0 25 * * *" }, "#/cron", "has no valid hour: 25"],
    [{ cron: "0 2 30 2 *" }, "#/cron", "never occurs, since no month that it names has such a day"],
    [{ cron: "0 * * * *" }, "#/cron", "occurs more than 200 times in 30 days, which is the most"],
    [{ time_zone: "Mars/Base" }, "#/time_zone", "must be a time zone, such as Europe/Berlin"],
    [
      { duration_minutes: 1441 },
      "#/duration_minutes",
      "is longer than the 1440 minutes until the next occurrence",
    ],
    [{ every_days: 2 }, "#/starts_on", "is required with every_days, which counts from it"],
    [
      { starts_on: "2026-05-02", ends_on: "2026-05-01" },
      "#/ends_on",
      "must not be earlier than the first day",
    ],
    [
      { cron: "0 2 * * MON", every_days: 7, starts_on: "2026-03-10" },
      "#/every_days",
      "excludes every occurrence",
    ],
    [{ starts_on: "3000-01-01" }, "#/starts_on", "excludes every occurrence"],
    [{ components: ["acme:nothing"] }, "#/components/0", "is not a component of the page"],
    [{ page: "nowhere", components: [] }, "#/page", "is not the slug or id of a page"],
  ])("is refused with %j", async (more, pointer, detail) => {
    await using schedules = await createScheduleSite();
    const { site, send, create } = schedules;
    const before = await site.state();
    const refused = await send("POST", "", { ...DAILY, ...more });
    expectProblem(refused, "validation_failed");
    expect(refused.body.errors).toEqual([{ pointer, detail }]);
    expect(await site.state()).toEqual(before);
    if ("page" in more) return;
    const id = await create();
    const unchanged = await site.state();
    const refusedChange = await send("PATCH", `/${id}`, more);
    expect(refusedChange.body.errors).toEqual([{ pointer, detail }]);
    expect(await site.state()).toEqual(unchanged);
  });

  test("is refused with one answer that names every wrong field", async () => {
    await using schedules = await createScheduleSite();
    const { send, create } = schedules;
    const wrong = { name: "", time_zone: "Mars/Base", components: ["acme:nothing"] };
    const pointers = async (method: string, path: string, json: object) => {
      const answer = await send(method, path, json);
      return answer.body.errors.map((each: { pointer: string }) => each.pointer).toSorted();
    };
    const expected = ["#/components/0", "#/name", "#/time_zone"];
    expect(await pointers("POST", "", { ...DAILY, ...wrong })).toEqual(expected);
    expect(await pointers("PATCH", `/${await create()}`, wrong)).toEqual(expected);
  });

  test("has the time zone of the page unless it names one", async () => {
    await using schedules = await createScheduleSite();
    await schedules.site.app.page({ slug: "york", time_zone: "America/New_York" }, []);
    const { time_zone: _, ...rest } = DAILY;
    const { body } = await schedules.send("POST", "", { ...rest, page: "york" });
    expect(body.time_zone).toBe("America/New_York");
  });

  test("of a page is one of 25 at most", async () => {
    await using schedules = await createScheduleSite();
    const { send, create } = schedules;
    const yearly = { cron: "0 0 1 1 *", components: [] };
    for (let count = 0; count < 25; count++) await create(yearly);
    const refused = await send("POST", "", { ...DAILY, ...yearly });
    expectProblem(refused, "conflict");
    expect(refused.body.detail).toContain("25 maintenance schedules");
  });
});

test("the deletion of a page deletes its schedules, and cancels only changed occurrences", async () => {
  await using schedules = await createScheduleSite();
  const { site, create, occurrences } = schedules;
  await site.app.page({ slug: "other" }, []);
  await create();
  const [edited] = await occurrences();
  await site.patch(edited?.id ?? "", { name: "Edited" });
  await create({ page: "other", components: [] });
  const session = await site.app.signedIn("admin");
  const path = `/admin/pages/${site.page.id}/delete`;
  expect((await site.app.call(path, { session })).text).toContain("Maintenance schedules: 1");
  const form = { form: await openForm(site.app, path, session), slug: "acme" };
  await site.app.call(path, { session, form });
  const cancelled = site.app.events().filter(({ type }) => type === "maintenance.cancelled");
  expect(cancelled).toHaveLength(30);
  // The others are removed before the components are.
  const last = cancelled.at(-1);
  expect([last?.subjectId, last?.data["name"]]).toEqual([String(edited?.id), "Edited"]);
  expect((await schedules.send("GET")).body.data).toMatchObject([{ page: "other" }]);
  expect(site.app.audit().map(({ action }) => action)).toContain("maintenance_schedule.delete");
});

describe("the days of a schedule", () => {
  test("begin with the first, are every n-th, and end with the last", async () => {
    await using schedules = await createScheduleSite();
    await schedules.create({ every_days: 3, starts_on: "2026-03-14", ends_on: "2026-03-23" });
    expect((await schedules.starts()).map((at) => at.slice(0, 10))).toEqual([
      "2026-03-14",
      "2026-03-17",
      "2026-03-20",
      "2026-03-23",
    ]);
  });

  test.each([
    ["Europe/Berlin", "2026-03-28T00:00Z", "30 2", ["28T01:30", "29T01:00", "30T00:30"]],
    ["Europe/Berlin", "2026-10-24T00:00Z", "30 2", ["24T00:30", "25T00:30", "26T01:30"]],
    ["America/New_York", "2026-03-07T00:00Z", "30 2", ["07T07:30", "08T07:00", "09T06:30"]],
    ["America/New_York", "2026-10-31T00:00Z", "30 1", ["31T05:30", "01T05:30", "02T06:30"]],
  ])("have one occurrence each when the clock changes in %s after %s", async (...given) => {
    const [time_zone, start, time, expected] = given;
    await using schedules = await createScheduleSite(start);
    await schedules.create({ cron: `${time} * * *`, time_zone });
    const starts = (await schedules.starts()).map((at) => at.slice(8, 16));
    expect(starts.slice(0, 3)).toEqual(expected);
    expect(starts).toHaveLength(30);
  });
});

describe("occurrences", () => {
  test("remind people, and start and end silently", async () => {
    await using schedules = await createScheduleSite();
    const { site, create } = schedules;
    await create();
    const notified = () =>
      site.app
        .events()
        .filter(({ type }) => type.startsWith("maintenance.") && type !== "maintenance.scheduled")
        .map(({ type, data }) => [type, data["notify"]]);
    await site.skip(12 * HOUR_MS);
    expect(notified()).toEqual([["maintenance.reminder", true]]);
    await site.skip(HOUR_MS);
    expect(await site.statusOf("API")).toBe("under_maintenance");
    await site.skip(HOUR_MS);
    expect(await site.statusOf("API")).toBe("operational");
    expect(notified()).toEqual([
      ["maintenance.reminder", true],
      ["maintenance.started", false],
      ["maintenance.completed", false],
    ]);
  });

  test("remind people 30 days before, when they are made", async () => {
    await using schedules = await createScheduleSite("2026-02-20T12:00Z");
    const { site, create } = schedules;
    await create({ cron: "0 2 1 4 *", remind_minutes_before: 30 * 24 * 60 });
    const reminders = () => site.eventTypes().filter((type) => type === "maintenance.reminder");
    await site.skip(9 * DAY_MS + 11 * HOUR_MS);
    expect(site.eventTypes()).toEqual([]);
    await site.skip(HOUR_MS + MINUTE_MS);
    await site.skip(MINUTE_MS);
    expect(reminders()).toHaveLength(1);
    await site.skip(DAY_MS);
    expect(reminders()).toHaveLength(1);
  });

  test("whose reminder was sent stay if their time does, or are cancelled aloud", async () => {
    await using schedules = await createScheduleSite();
    const { site, send, create, occurrences } = schedules;
    const [id, moved, disabled] = [await create(), await create(), await create()];
    await site.skip(12 * HOUR_MS + MINUTE_MS);
    const reminded = (await occurrences()).slice(0, 3);
    const idOf = (schedule?: string) =>
      String(reminded.find(({ schedule_id }) => schedule_id === schedule)?.id);
    await send("PATCH", `/${id}`, { name: "Renamed" });
    expect(await site.get(idOf(id))).toMatchObject({ name: "Nightly restart", version: 1 });
    await send("PATCH", `/${moved}`, { cron: "30 2 * * *" });
    await send("PATCH", `/${disabled}`, { enabled: false });
    await send("DELETE", `/${id}`);
    const cancelled = site.app
      .events()
      .filter(({ type, data }) => type === "maintenance.cancelled" && data["notify"]);
    expect(cancelled.map(({ subjectId }) => subjectId)).toEqual([moved, disabled, id].map(idOf));
    expect(await occurrences()).toHaveLength(3 + 30);
  });

  test("whose reminder was sent are changed and cancelled aloud by default, others silently", async () => {
    await using schedules = await createScheduleSite();
    const { site, create, occurrences } = schedules;
    await create();
    await site.skip(12 * HOUR_MS + MINUTE_MS);
    const [reminded, other] = await occurrences();
    for (const { id = "" } of [reminded ?? {}, other ?? {}]) {
      await site.patch(id, { name: "Edited" });
      await site.cancel(id);
    }
    const notified = site.app
      .events()
      .filter(({ type }) => type === "maintenance.updated" || type === "maintenance.cancelled")
      .map(({ subjectId, data }) => [subjectId, data["notify"]]);
    expect(notified).toEqual([
      [String(reminded?.id), true],
      [String(reminded?.id), true],
      [String(other?.id), false],
      [String(other?.id), false],
    ]);
  });

  test("are made as time passes, each once", async () => {
    await using schedules = await createScheduleSite();
    const { site, create, occurrences } = schedules;
    await create();
    site.clock.setWallClock(site.clock.now() + 10 * DAY_MS);
    await site.skip(1000);
    const times = (await occurrences()).map(({ occurrence_at }) => occurrence_at);
    expect(times).toHaveLength(40);
    expect(new Set(times).size).toBe(40);
    expect(times.at(-1)).toBe("2026-04-19T00:00:00.000Z");
  });

  test.each(["while the server runs", "before it starts again"])(
    "are not missing after a clock that was a year ahead is set right %s",
    async (when) => {
      await using schedules = await createScheduleSite();
      const { site, create, starts } = schedules;
      await create();
      await create({ cron: "0 2 1 * *" });
      const start = site.clock.now();
      // Advancing the clock keeps the process, unlike `skip`.
      const pass = when === "while the server runs" ? site.clock.advance : site.skip;
      site.clock.setWallClock(start + 365 * DAY_MS);
      await pass(MINUTE_MS);
      site.clock.setWallClock(start + 25 * DAY_MS);
      await pass(MINUTE_MS);
      await pass(MINUTE_MS);
      const times = (await starts()).filter((at) => at < "2027");
      // Those up to 9 April were recorded as done while the clock was ahead.
      expect(times).toHaveLength(25 + 1);
      expect(times[0]).toBe("2026-04-10T00:00:00.000Z");
      expect(times.at(-1)).toBe("2026-05-04T00:00:00.000Z");
    },
  );

  test("of a time at which no server ran are not made afterwards", async () => {
    await using schedules = await createScheduleSite();
    const { site, create, occurrences } = schedules;
    await create({ remind_minutes_before: null });
    site.clock.setWallClock(site.clock.now() + 50 * DAY_MS);
    await site.skip(1000);
    const all = await occurrences();
    const starts = all.map(({ occurrence_at }) => occurrence_at?.slice(0, 10));
    // 30 from the start, which are recorded as done, and 30 from now on.
    expect(starts).toHaveLength(60);
    expect(starts[29]).toBe("2026-04-09");
    expect(starts[30]).toBe("2026-04-30");
    expect(all.slice(0, 30).every(({ status }) => status === "completed")).toBeTrue();
  });

  test("after the first 50 are made by the clock", async () => {
    await using schedules = await createScheduleSite();
    const { site, create, starts } = schedules;
    await create({ cron: "0 */4 * * *" });
    expect(await starts()).toHaveLength(50);
    await site.skip(1000);
    await settle();
    expect(await starts()).toHaveLength(180);
  });

  test("that were changed or cancelled stay so when the schedule changes", async () => {
    await using schedules = await createScheduleSite();
    const { site, send, create, occurrences } = schedules;
    const id = await create();
    const [edited, cancelled, moved, plain] = await occurrences();
    await site.patch(edited?.id ?? "", { name: "Edited" });
    await site.cancel(cancelled?.id ?? "");
    await site.patch(moved?.id ?? "", {
      scheduled_for: "2026-03-13T05:00:00Z",
      scheduled_until: "2026-03-13T06:00:00Z",
    });
    await send("PATCH", `/${id}`, { name: "Renamed", duration_minutes: 30 });
    const [first, second, third, fourth, ...rest] = await occurrences();
    expect(first).toMatchObject({ id: edited?.id, name: "Edited" });
    expect(second).toMatchObject({ id: cancelled?.id, status: "cancelled" });
    expect(third).toMatchObject({ id: moved?.id, scheduled_for: "2026-03-13T05:00:00.000Z" });
    expect(fourth).toMatchObject({
      name: "Renamed",
      scheduled_for: plain?.scheduled_for,
      scheduled_until: "2026-03-14T01:30:00.000Z",
    });
    expect(rest).toHaveLength(26);
    await send("DELETE", `/${id}`);
    const left = await occurrences();
    expect(left.map((each) => each.id)).toEqual([edited?.id, cancelled?.id, moved?.id].map(String));
    expect(left.every(({ schedule_id }) => schedule_id === null)).toBeTrue();
  });

  test("that are removed are cancelled for programs, without notifications", async () => {
    await using schedules = await createScheduleSite();
    const { site, send, create, occurrences } = schedules;
    const id = await create({ ends_on: "2026-03-12" });
    const ids = (await occurrences()).map((each) => each.id);
    await send("DELETE", `/${id}`);
    const events = site.app.events().filter(({ type }) => type === "maintenance.cancelled");
    expect(events.map(({ subjectId }) => subjectId)).toEqual(ids);
    expect(events.map(({ data }) => [data["status"], data["notify"], data["version"]])).toEqual([
      ["cancelled", false, 2],
      ["cancelled", false, 2],
    ]);
  });

  test("that people were reminded of stay at their time, and are cancelled for people otherwise", async () => {
    await using schedules = await createScheduleSite("2026-03-10T00:30Z");
    const { site, send, create, occurrences } = schedules;
    const id = await create({ remind_minutes_before: 20 });
    await site.skip(15 * MINUTE_MS);
    const [reminded] = await occurrences();
    const cancellations = () =>
      site.app
        .events()
        .filter(({ type, data }) => type === "maintenance.cancelled" && data["notify"] === true)
        .map(({ subjectId }) => subjectId);
    await send("PATCH", `/${id}`, { name: "Renamed" });
    const [kept, next] = await occurrences();
    expect([kept?.id, kept?.name, next?.name]).toEqual([
      reminded?.id,
      "Nightly restart",
      "Renamed",
    ]);
    expect(cancellations()).toEqual([]);
    await send("PATCH", `/${id}`, { cron: "0 3 * * *" });
    expect((await occurrences())[0]).toMatchObject({ id: reminded?.id, status: "cancelled" });
    expect(cancellations()).toEqual([String(reminded?.id)]);
    expect(site.app.audit().map(({ action }) => action)).toContain("maintenance.cancel");
  });

  test("whose time stays are kept when only the times change", async () => {
    await using schedules = await createScheduleSite();
    const { send, create, occurrences } = schedules;
    const id = await create();
    const before = await occurrences();
    await send("PATCH", `/${id}`, { cron: "0 2 * * 6,0" });
    const after = await occurrences();
    const ids = new Set(before.map((each) => each.id));
    expect(after).toHaveLength(8);
    expect(after.every((each) => ids.has(each.id))).toBeTrue();
  });

  test("are removed while the schedule is disabled, except the one in progress", async () => {
    await using schedules = await createScheduleSite("2026-03-10T00:30Z");
    const { site, send, create, occurrences } = schedules;
    const id = await create();
    await site.skip(HOUR_MS);
    await send("PATCH", `/${id}`, { enabled: false });
    await site.skip(DAY_MS);
    expect((await occurrences()).map(({ status }) => status)).toEqual(["completed"]);
    await send("PATCH", `/${id}`, { enabled: true });
    expect((await occurrences()).map(({ status }) => status)).toEqual([
      "completed",
      ...Array.from({ length: 30 }, () => "scheduled"),
    ]);
  });

  test("leave out deleted components", async () => {
    await using schedules = await createScheduleSite();
    const { site, send, create, occurrences } = schedules;
    const id = await create({ components: ["acme:api", "acme:web"] });
    const session = await site.app.signedIn("admin");
    await site.app.call(`/admin/components/${site.ids["API"]}/delete`, { session, form: {} });
    expect((await send("GET", `/${id}`)).body.components).toMatchObject([{ name: "Web" }]);
    await send("PATCH", `/${id}`, { name: "Other" });
    expect((await occurrences())[0]).toMatchObject({ components: [{ name: "Web" }] });
  });

  test("are shown publicly one at a time, and all in the calendar and the API", async () => {
    await using schedules = await createScheduleSite();
    const { site, create, starts } = schedules;
    await create();
    await site.plan();
    const read = async (path: string) => (await site.app.call(path, { key: site.key })).text;
    const count = (text: string) => new Set(text.match(/mnt_[0-9a-z]{26}/g)).size;
    expect(count(await read("/status/acme"))).toBe(2);
    expect(count(await read("/api/v1/status/acme"))).toBe(2);
    expect(count(await read("/status/acme/feed.atom"))).toBe(2);
    const v2 = "/status/acme/api/v2";
    expect(count(await read(`${v2}/summary.json`))).toBe(2);
    expect(count(await read(`${v2}/scheduled-maintenances.json`))).toBe(2);
    expect(count(await read(`${v2}/scheduled-maintenances/upcoming.json`))).toBe(2);
    expect(count(await read("/status/acme/calendar.ics"))).toBe(31);
    expect(await starts()).toHaveLength(30);
  });
});
