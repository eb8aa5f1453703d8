import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { deleteComponent } from "../../../src/features/components/components";
import { insertCause } from "../../../src/features/components/cause-store";
import { saveNoData } from "../../../src/features/monitors/spans-store";
import { recordState } from "../../../src/features/monitors/engine/transitions";
import { CLI_ACTOR } from "../../../src/base/actor";
import { COMPONENT_STATUSES, MONITOR_STATES, worstStatus } from "../../../src/base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { createAnalyticsSite } from "../../support/analytics";
import { TEST_START } from "../../support/clock";
import { addMonitor } from "../../support/monitor-store";
import { createComponent } from "../../support/examined";

/** Two days, in which things happen at whole minutes. */
const BEGIN = Date.parse("2026-03-05T06:00:00Z");
const END = BEGIN + 2 * DAY_MS;
const PERIOD = "from=2026-03-05T06:00:00Z&to=2026-03-07T06:00:00Z";

const minute = fc.integer({ min: -300, max: 3_300 }).map((n) => BEGIN + n * MINUTE_MS);
const interval = fc
  .record({ startedAt: minute, length: fc.option(fc.integer({ min: 0, max: 900 })) })
  .map(({ startedAt, length }) => ({
    startedAt,
    endedAt: length === null ? null : startedAt + length * MINUTE_MS,
  }));

interface Line {
  id: string;
  from: string;
  to: string;
  uptime: number | null;
  [field: string]: unknown;
}

/** The minutes of a line, each by its first millisecond. */
function minutesOf({ from, to }: Line): number[] {
  const count = (Date.parse(to) - Date.parse(from)) / MINUTE_MS;
  return Array.from({ length: count }, (_, i) => Date.parse(from) + i * MINUTE_MS);
}

const isOpenAt = (ms: number) => (each: { startedAt: number; endedAt: number | null }) =>
  each.startedAt <= ms && (each.endedAt === null || each.endedAt > ms);

describe("the uptime of components", () => {
  test("uptime of components equals a count of every minute, by day and hour, for each and together", async () => {
    await using site = await createAnalyticsSite();
    const { app } = site;
    const component = fc.record({
      start_date: fc.constantFrom("2026-03-01", "2026-03-06", "2026-03-07", "2026-03-08"),
      causes: fc.array(fc.tuple(fc.constantFrom(...COMPONENT_STATUSES), interval), {
        maxLength: 8,
      }),
      gaps: fc.uniqueArray(interval, { maxLength: 3, selector: ({ startedAt }) => startedAt }),
    });
    const made = await app.ctx.db.write((tx) => {
      return fc
        .sample(component, { numRuns: 30, seed: 6 })
        .map(({ start_date, causes, gaps }, position) => {
          const placement = { position: position + 2, groupId: null, managedBy: null };
          const input = { name: `Component ${position}`, start_date };
          const { id } = createComponent(app.ctx, tx, site.page, input, placement, CLI_ACTOR);
          for (const [status, span] of causes) {
            const source = { source: "import", sourceId: "test", componentId: id } as const;
            insertCause(tx, { ...source, status, ...span });
          }
          for (const gap of gaps) saveNoData(tx, { componentId: id, ...gap });
          return { id, knownFrom: Date.parse(start_date), causes, gaps };
        });
    });

    function expected(line: Line) {
      const { knownFrom, causes, gaps } = made.find(({ id }) => id === line.id) ?? {
        // Made when the test began, after all of this.
        knownFrom: TEST_START,
        causes: [],
        gaps: [],
      };
      const counts = new Map<string, number>();
      for (const ms of minutesOf(line)) {
        const isKnown = ms >= knownFrom && !gaps.some(isOpenAt(ms));
        const open = causes.filter(([, span]) => isOpenAt(ms)(span)).map(([status]) => status);
        const what = isKnown ? worstStatus(open) : "no_data";
        counts.set(what, (counts.get(what) ?? 0) + MINUTE_MS);
      }
      const of = (what: string) => counts.get(what) ?? 0;
      const [partial, major] = [of("partial_outage"), of("major_outage")];
      const counted = of("operational") + of("degraded_performance") + partial + major;
      const downTenths = 10 * major + 3 * partial;
      return {
        // In whole numbers, so that nothing is off by what has no binary form.
        uptime:
          counted === 0 ? null : Math.floor(((10 * counted - downTenths) * 1e5) / counted) / 1e6,
        counted_ms: counted,
        down_ms: downTenths / 10,
        degraded_ms: of("degraded_performance"),
        partial_outage_ms: partial,
        major_outage_ms: major,
        maintenance_ms: of("under_maintenance"),
        no_data_ms: of("no_data"),
      };
    }

    const { body } = await site.read(`uptime?page=acme&${PERIOD}&interval=day`);
    expect(body.data).toHaveLength(32 * 3);
    for (const line of body.data as Line[]) expect(line).toMatchObject(expected(line));
    const whole = await site.read(`uptime?page=acme&${PERIOD}`);
    expect(whole.body.data).toHaveLength(32);
    for (const line of whole.body.data as Line[]) expect(line).toMatchObject(expected(line));
    const sum = (field: string) =>
      (body.data as Line[]).reduce((total, line) => total + Number(line[field]), 0);
    for (const { total } of [body, whole.body]) {
      expect(total.counted_ms).toBe(sum("counted_ms"));
      expect(total.down_ms).toBeCloseTo(sum("down_ms"), 1);
      expect(total.no_data_ms).toBe(sum("no_data_ms"));
      expect(total.uptime).toBeCloseTo(1 - total.down_ms / total.counted_ms, 5);
    }
    for (const { id } of made.slice(0, 5)) {
      const hours = (await site.read(`uptime?component=${id}&${PERIOD}&interval=hour`)).body;
      expect(hours.data).toHaveLength(48);
      for (const line of hours.data as Line[]) expect(line).toMatchObject(expected(line));
    }
  });

  test("uptime of components equals that of the status page", async () => {
    await using site = await createAnalyticsSite();
    const key = await site.app.keyWith("read:status", "write:components", "read:analytics");
    const { API = "" } = site.components;
    const set = (status: string) =>
      site.app.call(`/api/v1/components/${API}`, { method: "PATCH", key, json: { status } });
    await site.app.clock.advance(9 * HOUR_MS);
    await set("major_outage");
    await site.app.clock.advance(HOUR_MS);
    await set("operational");
    const { body } = await site.app.call("/api/v1/status/acme", { key });
    const [first] = (await site.read(`uptime?component=${API}`)).body.data;
    expect(first.uptime).toBe(0.9);
    expect(body.components[0].uptime_90d).toBe(0.9);
    const summary = await site.app.call("/status/acme/summary.json");
    const { total } = (await site.read("uptime?page=acme")).body;
    expect(summary.body.uptime_30d).toBe(0.95);
    expect(total.uptime).toBe(0.95);
  });

  test("uptime of all pages includes private ones and no deleted objects", async () => {
    await using site = await createAnalyticsSite();
    const { app } = site;
    const hidden = await app.page({ slug: "inside", name: "Inside", visibility: "private" }, [
      "Ledger",
      "Old",
    ]);
    await app.ctx.db.write((tx) =>
      deleteComponent(app.ctx, tx, hidden.components["Old"] ?? "", CLI_ACTOR),
    );
    await app.clock.advance(HOUR_MS);
    const { body } = await site.read("uptime");
    const names = (data: { page: string; name: string }[]) =>
      data.map(({ page, name }) => `${page}/${name}`);
    expect(names(body.data)).toEqual(["acme/API", "acme/Website", "inside/Ledger"]);
    const one = await site.read("uptime?page=inside");
    expect(names(one.body.data)).toEqual(["inside/Ledger"]);
    await site.expectRejected(`uptime?component=${hidden.components["Old"]}`, "component");
  });
});

describe("the uptime of a monitor", () => {
  test("uptime of a monitor equals a count of every minute of its states", async () => {
    await using site = await createAnalyticsSite();
    const { app } = site;
    const changes = fc.sample(fc.tuple(minute, fc.constantFrom(...MONITOR_STATES)), {
      numRuns: 60,
      seed: 6,
    });
    changes.sort(([a], [b]) => a - b);
    const createdAt = BEGIN + 60 * MINUTE_MS;
    const monitor = await app.ctx.db.write((tx) => {
      const row = addMonitor(app.ctx, tx, { name: "Shop", componentIds: [], createdAt });
      for (const [at, state] of changes) {
        recordState(tx, { monitorNum: row.num, state, at, message: null });
      }
      return row;
    });
    const stateAt = (ms: number) => {
      if (ms < createdAt) return "no_data";
      return changes.findLast(([at]) => Math.max(at, createdAt) <= ms)?.[1] ?? "pending";
    };
    for (const by of ["", "&interval=hour", "&interval=day"]) {
      const { body } = await site.read(`uptime?monitor=${monitor.id}&${PERIOD}${by}`);
      let countedMs = 0;
      for (const line of body.data as Line[]) {
        const states = minutesOf(line).map(stateAt);
        const of = (...desired: string[]) =>
          states.filter((state) => desired.includes(state)).length * MINUTE_MS;
        const counted = of("up", "degraded", "down");
        const up = counted - of("down");
        countedMs += counted;
        expect(line).toMatchObject({
          kind: "monitor",
          id: monitor.id,
          page: null,
          uptime: counted === 0 ? null : Math.floor((up * 1e6) / counted) / 1e6,
          counted_ms: counted,
          down_ms: of("down"),
          degraded_ms: of("degraded"),
          partial_outage_ms: null,
          major_outage_ms: null,
          maintenance_ms: of("maintenance"),
          no_data_ms: of("pending", "paused", "no_data", "unreachable"),
        });
      }
      expect(body.total.counted_ms).toBe(countedMs);
      expect(countedMs).toBeGreaterThan(0);
      expect(Date.parse(body.to)).toBe(END);
    }
  });
});
