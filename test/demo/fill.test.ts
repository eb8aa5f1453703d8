import { afterAll, describe, expect, test } from "bun:test";
import { listAllKeys } from "../../src/features/keys/records";
import { SCOPE_NAMES } from "../../src/features/keys/scopes";
import { fillDemo } from "../../src/demo/demo";
import { lazy } from "../../src/base/lazy";
import { SUPPORTED_TYPES } from "../../src/base/status";
import { selectMany } from "../../src/db/statements";
import { mails } from "../../src/db/tables/mail";
import { monitorRollups } from "../../src/db/tables/monitors";
import { deliveries } from "../../src/db/tables/webhooks";
import { DAY_MS, HOUR_MS, startOfDay } from "../../src/base/time";
import { createTestApp, type TestApp } from "../support/app";
import { createTestClock } from "../support/clock";
import { readHtml } from "../support/html";

const NOON = Date.parse("2026-03-10T12:34:56.000Z");

/** Opens an application with the data of the demo. */
async function demoApp(seed: number, now = NOON) {
  const app = await createTestApp({ clock: createTestClock(now) });
  const filled = await fillDemo(app, { seed, passwordHash: "$argon2id$stands-for-a-hash" });
  return Object.assign(app, filled);
}

/** Demos that all tests read, since filling one takes most of a second. */
const demo1 = lazy(() => demoApp(1));
const demo7 = lazy(() => demoApp(7));

afterAll(async () => {
  for (const app of [await demo1.peek(), await demo7.peek()]) await app?.[Symbol.asyncDispose]();
});

async function dataOf({ call, keys }: TestApp & Awaited<ReturnType<typeof fillDemo>>) {
  const read = async (path: string, key: string) => (await call(path, { key })).body;
  return {
    status: await read("/api/v1/status/meridian", keys["read:status"]),
    incidents: await read("/api/v1/incidents?limit=100", keys["read:status"]),
    maintenance: await read("/api/v1/maintenance?limit=100", keys["read:status"]),
    monitors: await read("/api/v1/monitors?limit=100", keys["manage:monitors"]),
    schedules: await read("/api/v1/maintenance-schedules", keys["read:status"]),
    webhooks: await read("/api/v1/webhooks", keys["manage:webhooks"]),
  };
}

describe("the data of the demo", () => {
  test("a demo has the promised pages, incidents, maintenance, monitors and keys", async () => {
    const app = await demo1();
    const { status, incidents, maintenance, monitors, schedules, webhooks } = await dataOf(app);

    expect(status.groups).toHaveLength(4);
    expect(status.components).toHaveLength(14);
    expect(status.page.visibility).toBe("public");
    expect((await app.call("/status/meridian-internal")).status).toBe(404);

    expect(incidents.data).toHaveLength(24);
    const posted = incidents.data.filter(
      ({ postmortem }: { postmortem: unknown }) => postmortem !== null,
    );
    expect(posted).toHaveLength(2);
    const states = Map.groupBy(incidents.data, (one: { status: string }) => one.status);
    expect([states.get("resolved")?.length, states.get("monitoring")?.length]).toEqual([23, 1]);

    const own = maintenance.data.filter(
      ({ schedule_id: id }: { schedule_id: string | null }) => id === null,
    );
    const planned = Map.groupBy(own, (one: { status: string }) => one.status);
    expect([planned.get("completed")?.length, planned.get("scheduled")?.length]).toEqual([8, 1]);
    expect(schedules.data).toHaveLength(1);
    const occurrences = maintenance.data.filter(
      (one: { schedule_id: string | null }) => one.schedule_id !== null,
    );
    expect(new Set(occurrences.map(({ status }: { status: string }) => status))).toEqual(
      new Set(["scheduled"]),
    );

    const types = monitors.data.map(({ type }: { type: string }) => type);
    expect(types).toHaveLength(22);
    // A machine without the program ping gets a TCP monitor instead.
    const missing = SUPPORTED_TYPES.filter((type) => !types.includes(type));
    expect(missing.filter((type) => type !== "ping")).toEqual([]);
    expect(new Set(monitors.data.map(({ state }: { state: string }) => state))).toEqual(
      new Set(["up"]),
    );
    expect(webhooks.data).toHaveLength(2);
    expect(Object.keys(app.keys)).toEqual([...SCOPE_NAMES]);
  });

  test("the keys of a demo were used until now, one expires soon, one was limited and one is revoked", async () => {
    const app = await demo1();
    const session = await app.signedIn("owner");
    const list = readHtml((await app.call("/admin/settings/keys", { session })).text);
    expect(list.texts("a.row-link")).toHaveLength(9);
    const rows = list.texts("tbody tr");
    expect(listAllKeys(app.ctx.db).filter(({ last_used_at: at }) => at === null)).toEqual([]);
    expect(list.texts(".stat-value")).toEqual(["1", "5", "1"]);
    expect(rows.filter((row) => row.includes("Revoked"))).toHaveLength(1);
    const sums = list
      .attributes(".sparkline", "aria-label")
      .map((label) => Number.parseInt(label.replaceAll(",", ""), 10));
    expect(sums.filter((sum) => sum > 0).length).toBeGreaterThanOrEqual(7);
    // The printed keys work.
    for (const scope of SCOPE_NAMES) {
      expect((await app.call("/api/v1/key", { key: app.keys[scope] })).body.scopes).toEqual([
        scope,
      ]);
    }
  });

  test("the webhooks of a demo delivered the events of a month, some at the second attempt", async () => {
    const app = await demo1();
    const session = await app.signedIn("owner");
    const { webhooks } = await dataOf(app);
    for (const { id } of webhooks.data) {
      const log = readHtml((await app.call(`/admin/settings/webhooks/${id}`, { session })).text);
      expect(log.texts("tbody tr").length).toBeGreaterThan(10);
    }
    const rows = selectMany((orm) => orm.select().from(deliveries))(app.ctx.db, {});
    const waiting = rows.filter(({ status }) => status !== "delivered");
    // The test event of each webhook is sent when the demo starts.
    expect(waiting).toHaveLength(2);
    const retried = rows.filter(({ tries }) => tries === 2).length;
    expect(retried).toBeWithin(1, rows.length / 4);
    for (const { createdAt, finishedAt, nextTryAt } of rows.filter(
      ({ status }) => status === "delivered",
    )) {
      expect([finishedAt !== null && finishedAt > createdAt, nextTryAt]).toEqual([true, null]);
    }
  });

  test("the subscribers of a demo got mails about the incidents of a month, and none waits", async () => {
    const app = await demo1();
    const session = await app.signedIn("owner");
    const shown = async (path: string) => readHtml((await app.call(path, { session })).text);
    const mailings = await shown("/admin/mailings");
    expect(mailings.texts("tbody tr").length).toBeGreaterThan(10);
    expect(mailings.texts(".notice")).toEqual([]);
    const subscribers = await shown("/admin/subscribers?page=meridian");
    const [first = ""] = subscribers.attributes("a.row-link", "href");
    expect((await shown(first)).texts("tbody tr").length).toBeGreaterThan(0);
    const rows = selectMany((orm) => orm.select().from(mails))(app.ctx.db, {});
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(["sent"]));
  });

  test("clients of Uptime Kuma and Gatus can read the public page and not the private one", async () => {
    const app = await demo1();
    const kuma = await app.call("/api/status-page/meridian");
    const shown = kuma.body.publicGroupList.flatMap(
      ({ monitorList }: { monitorList: unknown[] }) => monitorList,
    );
    expect(shown).toHaveLength(14);
    const gatus = (slug: string) => app.call(`/compat/gatus/${slug}/api/v1/endpoints/statuses`);
    expect((await gatus("meridian")).body).toHaveLength(14);
    expect((await app.call("/api/status-page/meridian-internal")).status).toBe(404);
    expect((await gatus("meridian-internal")).status).toBe(404);
  });

  test("no text of an incident or a maintenance appears twice", async () => {
    const app = await demo1();
    const { incidents, maintenance } = await dataOf(app);
    const own = maintenance.data.filter(
      (one: { schedule_id: string | null }) => one.schedule_id === null,
    );
    const planned = own.map(({ updates }: { updates: { body: string }[] }) => updates.at(-1)?.body);
    const texts = [
      ...incidents.data.flatMap(({ updates }: { updates: { body: string }[] }) =>
        updates.map(({ body }) => body),
      ),
      ...planned,
    ];
    expect(texts).toHaveLength(23 * 4 + 3 + 9);
    expect(new Set(texts).size).toBe(texts.length);
  });

  test("the checks and failures of hours add up to those of their day", async () => {
    await using app = await demoApp(3);
    const rollups = selectMany((orm) => orm.select().from(monitorRollups))(app.ctx.db, {});
    const sumsOf = (size: number) => {
      const sums = new Map<string, { checks: number; failures: number }>();
      for (const { monitorNum, at, checks, failures } of rollups.filter(
        (row) => row.size === size,
      )) {
        const day = `${monitorNum}/${startOfDay(at)}`;
        const sum = sums.get(day) ?? { checks: 0, failures: 0 };
        sums.set(day, { checks: sum.checks + checks, failures: sum.failures + failures });
      }
      return sums;
    };
    const hours = sumsOf(HOUR_MS);
    // Hours of the first day are partly older than a year, and checks of one monitor are rarer than hourly.
    const first = startOfDay(NOON) - 365 * DAY_MS;
    const days = [...sumsOf(DAY_MS)].filter(
      ([day]) => hours.has(day) && !day.endsWith(`/${first}`),
    );
    expect(days).toHaveLength(17 * 364);
    for (const [day, sum] of days) expect([day, hours.get(day)]).toEqual([day, sum]);
  });

  test("a demo has response times and uptime of a year", async () => {
    const app = await demo1();
    const key = app.keys["read:analytics"];
    const year = "from=2025-03-11T00:00:00Z&to=2026-03-10T00:00:00Z&interval=day";
    const read = async (what: string) =>
      (await app.call(`/api/v1/analytics/${what}?${year}&monitor=website`, { key })).body.data;
    const latency = await read("latency");
    expect(latency).toHaveLength(364);
    for (const line of latency) expect(line.p50_ms).toBeWithin(80, 240);
    const uptimes = (await read("uptime")).map(({ uptime }: { uptime: number }) => uptime);
    expect(uptimes).toHaveLength(364);
    expect(Math.min(...uptimes)).toBeWithin(0.9, 1);
  });

  test("equal seeds give equal data at different times of a day", async () => {
    const one = await demo7();
    await using other = await demoApp(7, NOON + HOUR_MS);
    const [first, second] = [await dataOf(one), await dataOf(other)];
    expect(second.incidents).toEqual(first.incidents);
    expect(second.maintenance).toEqual(first.maintenance);
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    expect(idsOf(second.monitors)).toEqual(idsOf(first.monitors));
    expect(second.status.components.map((each: { id: string }) => each.id)).toEqual(
      first.status.components.map((each: { id: string }) => each.id),
    );
  });

  test("other seeds and other days give other data", async () => {
    const one = await demo7();
    await using other = await demoApp(8);
    await using later = await demoApp(7, NOON + 24 * HOUR_MS);
    const startsOf = async (app: Awaited<ReturnType<typeof demoApp>>) =>
      (await dataOf(app)).incidents.data.map((each: { started_at: string }) => each.started_at);
    const first = await startsOf(one);
    expect(await startsOf(other)).not.toEqual(first);
    expect(await startsOf(later)).not.toEqual(first);
  });

  test("keys are other ones in each demo", async () => {
    const one = await demo7();
    await using other = await demoApp(7);
    for (const scope of SCOPE_NAMES) expect(other.keys[scope]).not.toBe(one.keys[scope]);
  });
});
