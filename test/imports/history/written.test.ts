import { describe, expect, test } from "bun:test";
import { latencyOfEach } from "../../../src/features/monitors/latency";
import { BEAT } from "../../../src/imports/found";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDay, toIso } from "../../../src/base/time";
import { createTestApp } from "../../support/app";
import { TEST_START } from "../../support/clock";
import {
  foundPast,
  importPast,
  type Past,
  pastMonitor,
  pastSource,
  regularBeats,
  sumOf,
} from "../../support/past-source";
import { seenOf, shownTime } from "../../support/past-seen";

const NOW = TEST_START;
const TODAY = startOfDay(NOW);

/** Application into which monitors are imported with their pasts, by name. */
async function importedApp(
  pasts: Record<string, Past>,
  options: Parameters<typeof importPast>[2] = {},
  bodies: Record<string, object> = {},
) {
  const app = await createTestApp();
  const keyed = Object.fromEntries(
    Object.entries(pasts).map(([name, past]) => [`monitor:${name}`, past]),
  );
  const monitors = Object.keys(pasts).map((name) => pastMonitor(name, bodies[name]));
  const found = foundPast(monitors, pastSource(keyed));
  const report = await importPast(app, found, options);
  return Object.assign(app, { found, report, seen: (name: string) => seenOf(app, name) });
}

describe("an imported history", () => {
  test("has results, minutes and hours of recent times, and days of all times", async () => {
    const from = TODAY - 100 * DAY_MS;
    const beats = regularBeats({ from, until: NOW }, 10 * MINUTE_MS);
    await using app = await importedApp({ api: { beats } }, {}, { api: { interval_seconds: 600 } });
    const { checks, rollups, spans, startDate, noData } = app.seen("api");
    expect(app.report.history).toEqual({
      results: beats.length,
      days: 101,
      from: toIso(from),
      until: toIso(NOW - 10 * MINUTE_MS),
      skipped: {},
    });
    expect([checks.length, checks.at(-1)?.at]).toEqual([48 * 6, NOW - 48 * HOUR_MS]);
    const starts = (size: number) => [rollups.get(size)?.length, rollups.get(size)?.[0]?.at];
    expect(starts(MINUTE_MS)).toEqual([7 * 24 * 6, NOW - 7 * DAY_MS]);
    expect(starts(HOUR_MS)).toEqual([100 * 24 + 12, from]);
    expect(starts(DAY_MS)).toEqual([100, from]);
    expect(spans).toEqual([`up ${shownTime(from)}`]);
    expect([startDate, noData]).toEqual([toIso(from).slice(0, 10), []]);
  });

  test("starts the monitor in the state of its last beat, and tells nobody", async () => {
    const beats = regularBeats({ from: NOW - 5 * HOUR_MS, until: NOW }, MINUTE_MS, (_, time) =>
      time < NOW - HOUR_MS ? { kind: "up", latencyMs: 20 } : { kind: "down", message: "refused" },
    );
    await using app = await importedApp({ api: { beats } });
    const { state, spans, causes, status, noData } = app.seen("api");
    expect(state).toMatchObject({ state: "down", since: NOW - HOUR_MS });
    expect(spans).toEqual(["up 03-10 07:00 → 03-10 11:00", "down 03-10 11:00"]);
    expect(causes).toEqual([
      "monitor major_outage 03-10 12:00",
      "import major_outage 03-10 11:00 → 03-10 12:00",
    ]);
    expect([status, noData]).toEqual(["major_outage", ["03-10 00:00 → 03-10 07:00"]]);
    const events = app
      .events()
      .filter(({ type, data }) => type.startsWith("monitor.") || data["notify"] !== false);
    expect(events.map(({ type }) => type).filter((type) => type.includes("status"))).toEqual([]);
    expect(events.filter(({ type }) => type.startsWith("monitor."))).toEqual([]);
  });

  test("only remembers a state after which the source was stopped for long", async () => {
    const beats = regularBeats(
      { from: NOW - 5 * HOUR_MS, until: NOW - 2 * HOUR_MS },
      MINUTE_MS,
      (_, time) => (time < NOW - 3 * HOUR_MS ? { kind: "up" } : { kind: "down" }),
    );
    await using app = await importedApp({ api: { beats } });
    const { state, spans, causes, noData, status } = app.seen("api");
    expect(state.state).toBe("pending");
    expect(spans).toEqual([
      "up 03-10 07:00 → 03-10 09:00",
      "down 03-10 09:00 → 03-10 10:00",
      "no_data 03-10 10:00 → 03-10 12:00",
      "pending 03-10 12:00",
    ]);
    expect(causes).toEqual([
      "import major_outage 03-10 09:59 → 03-10 10:00",
      "import major_outage 03-10 09:00 → 03-10 09:59",
    ]);
    expect(noData).toEqual(["03-10 00:00 → 03-10 07:00", "03-10 10:00 → 03-10 12:00"]);
    expect(status).toBe("operational");
  });

  test("of a paused monitor ends with the pause", async () => {
    const beats = regularBeats({ from: NOW - HOUR_MS, until: NOW }, MINUTE_MS, () => ({
      kind: "down",
    }));
    await using app = await importedApp({ api: { beats } }, { isPaused: true });
    const { state, spans, causes } = app.seen("api");
    expect(state.state).toBe("paused");
    expect(spans).toEqual(["down 03-10 11:00 → 03-10 12:00", "paused 03-10 12:00"]);
    expect(causes).toEqual(["import major_outage 03-10 11:00 → 03-10 12:00"]);
  });

  test("has maintenance, outages and times without data of both of its parts", async () => {
    const seam = TODAY - 90 * DAY_MS;
    const kinds = (time: number): "up" | "down" | "maintenance" =>
      time >= seam - HOUR_MS && time < seam + HOUR_MS
        ? "down"
        : time >= seam + 5 * HOUR_MS && time < seam + 6 * HOUR_MS
          ? "maintenance"
          : "up";
    const beats = regularBeats(
      { from: seam - 2 * DAY_MS, until: seam + 2 * DAY_MS },
      MINUTE_MS,
      (_, time) => ({
        kind: kinds(time),
      }),
    ).filter((beat) => beat.at < seam + DAY_MS || beat.at >= seam + DAY_MS + 3 * HOUR_MS);
    const last = {
      state: "up",
      since: beats.at(-1)?.at ?? 0,
      at: beats.at(-1)?.at ?? 0,
      message: null,
    } as const;
    await using app = await importedApp({ api: { beats, last } });
    const { spans, causes, noData, startDate } = app.seen("api");
    expect(spans).toEqual([
      "up 12-08 00:00 → 12-09 23:00",
      "down 12-09 23:00 → 12-10 01:00",
      "up 12-10 01:00 → 12-10 05:00",
      "maintenance 12-10 05:00 → 12-10 06:00",
      "up 12-10 06:00 → 12-11 00:00",
      "no_data 12-11 00:00 → 12-11 03:00",
      "up 12-11 03:00 → 12-12 00:00",
      "no_data 12-12 00:00 → 03-10 12:00",
      "pending 03-10 12:00",
    ]);
    expect(causes.sort()).toEqual([
      "import major_outage 12-09 23:00 → 12-10 00:00",
      "import major_outage 12-10 00:00 → 12-10 01:00",
      "import under_maintenance 12-10 05:00 → 12-10 06:00",
    ]);
    expect(noData).toEqual(["12-11 00:00 → 12-11 03:00", "12-12 00:00 → 03-10 12:00"]);
    expect(startDate).toBe("2025-12-08");
  });

  test("begins at the first beat, also where the sum of its minute begins earlier", async () => {
    const first = TODAY + 6 * HOUR_MS + 40 * SECOND_MS;
    const beats = [
      { at: first, kind: "pending" },
      { at: first + MINUTE_MS, kind: "up" },
    ] as const;
    const sums = [
      sumOf(TODAY + 6 * HOUR_MS, MINUTE_MS, 1, 1),
      sumOf(TODAY + 6 * HOUR_MS, HOUR_MS, 2, 1),
    ];
    await using app = await importedApp({ api: { beats, sums } });
    const { spans, causes } = app.seen("api");
    expect(spans[0]).toStartWith("up 03-10 06:01");
    expect(causes).toEqual([]);
  });

  test("has the sums of the source where it keeps fewer beats than they count", async () => {
    const from = TODAY - 40 * DAY_MS;
    const days = Array.from({ length: 40 }, (_, i) =>
      sumOf(from + i * DAY_MS, DAY_MS, 1_440, i === 3 ? 144 : 0),
    );
    const hours = Array.from({ length: 20 * 24 + 12 }, (_, i) =>
      sumOf(TODAY - 20 * DAY_MS + i * HOUR_MS, HOUR_MS, 60),
    );
    const beats = regularBeats({ from: TODAY - DAY_MS, until: NOW }, MINUTE_MS, () => ({
      kind: "up",
      latencyMs: 40,
    }));
    await using app = await importedApp({ api: { beats, sums: [...days, ...hours] } });
    const { rollups, spans, causes, startDate } = app.seen("api");
    expect(app.report.history).toMatchObject({ results: 40 * 1_440 + 12 * 60, days: 41 });
    const day = (index: number) => rollups.get(DAY_MS)?.[index];
    expect(day(3)).toMatchObject({
      checks: 1_440,
      failures: 144,
      answers: 1_296,
      latencySum: 25_920,
      latencyMin: 10,
      latencyMax: 30,
      sketch: null,
    });
    expect(day(39)).toMatchObject({ checks: 1_440, latencySum: 57_600, latencyMin: 40 });
    expect(day(39)?.sketch).not.toBeNull();
    expect(rollups.get(HOUR_MS)).toHaveLength(20 * 24 + 12);
    expect(causes).toEqual(["import major_outage 02-01 00:00 → 02-01 02:24"]);
    expect(spans.slice(0, 3)).toEqual([
      "up 01-29 00:00 → 02-01 00:00",
      "down 02-01 00:00 → 02-01 02:24",
      "up 02-01 02:24",
    ]);
    expect(startDate).toBe("2026-01-29");
    const intervals = [3, 39].map((index) => ({
      from: from + index * DAY_MS,
      to: from + (index + 1) * DAY_MS,
    }));
    const latencyOf = (interval: (typeof intervals)[number]) =>
      latencyOfEach(app.ctx.db, [1], [interval]).total;
    const [summed, counted] = intervals.map(latencyOf);
    expect(summed).toMatchObject({ count: 1_296, avgMs: 20, minMs: 10, maxMs: 30, p50Ms: null });
    expect(counted).toMatchObject({ count: 1_440, avgMs: 40, p50Ms: 40 });
  });

  test("puts the later of two beats in one millisecond one on, and counts what is skipped", async () => {
    const [first, second] = [NOW - HOUR_MS, NOW - HOUR_MS + 1];
    const beats = [first, first, second].map(
      (time, latencyMs) => ({ at: time, kind: "up", latencyMs }) as const,
    );
    await using app = await createTestApp();
    const source = pastSource({ "monitor:api": { beats } });
    const found = foundPast([pastMonitor("api")], {
      ...source,
      *beats(key, range) {
        for (const chunk of source.beats(key, range)) {
          yield { ...chunk, rows: 5, skipped: { "unreadable time": 2 } };
          yield {
            ...chunk,
            count: 1,
            at: Float64Array.of(NOW + 1),
            kind: Uint8Array.of(BEAT.up),
            rows: 1,
          };
        }
      },
      leftOut: () => ({ "of deleted monitors": 7 }),
    });
    const { history } = await importPast(app, found);
    expect(seenOf(app, "api").checks.map((check) => [check.at - first, check.latencyMs])).toEqual([
      [2, 2],
      [1, 1],
      [0, 0],
    ]);
    expect(history).toMatchObject({
      results: 3,
      skipped: {
        "unreadable time": 2,
        "not before the monitor here was created": 1,
        "of deleted monitors": 7,
      },
    });
  });

  test("keeps no secrets and no lines of messages", async () => {
    const message = "GET https://u:hunter2@api.test/?token=abc\nfailed";
    const beats = [{ at: NOW - HOUR_MS, kind: "down", message } as const];
    await using app = await importedApp({ api: { beats } });
    const [check] = app.seen("api").checks;
    expect(check?.message).toContain("failed");
    expect(check?.message).not.toContain("hunter2");
    expect(check?.message).not.toContain("\n");
  });
});
