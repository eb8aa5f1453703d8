import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from "../../../src/base/time";
import { createTestApp } from "../../support/app";
import { TEST_START } from "../../support/clock";
import { foundComponent, foundMonitor, foundPage, heldMonitor } from "../../support/found-objects";
import { seenOf } from "../../support/past-seen";
import {
  type Beat,
  foundPast,
  importPast,
  pastSource,
  regularBeats,
} from "../../support/past-source";

const NOW = TEST_START;
const TODAY = startOfDay(NOW);
const BODY = { interval_seconds: 60 } as const;

/** Found page with the component 1, which these monitors watch, and their beats by id. */
function foundSite(beats: Record<string, Beat[]>, monitors = Object.keys(beats)) {
  const keyed = Object.entries(beats).map(([id, own]) => [`monitor:${id}`, { beats: own }]);
  return {
    ...foundPast(
      monitors.map((id) => foundMonitor(id, { body: BODY, components: ["component:1"] })),
      pastSource(Object.fromEntries(keyed)),
    ),
    pages: [foundPage("1")],
    components: [foundComponent("1")],
  };
}

const seenOfMonitor = (app: Parameters<typeof seenOf>[0], id: string) =>
  seenOf(app, `Monitor ${id}`, "Component 1");

/** Returns beats of hours of yesterday, or of the days before that with negative hours. */
function beatsOf(from: number, until: number, isDown: (hour: number) => boolean = () => false) {
  const yesterday = TODAY - DAY_MS;
  const range = { from: yesterday + from * HOUR_MS, until: yesterday + until * HOUR_MS };
  return regularBeats(range, MINUTE_MS, (_, at) => ({
    kind: isDown((at - yesterday) / HOUR_MS) ? "down" : "up",
  }));
}

describe("a component that several monitors watch", () => {
  test("has data while one of them has, and the outages of all", async () => {
    await using app = await createTestApp();
    const one = beatsOf(1, 10, (hour) => hour >= 2 && hour < 3);
    const two = [...beatsOf(8, 12, (hour) => hour >= 9 && hour < 11), ...beatsOf(20, 36)];
    await importPast(app, foundSite({ "1": one, "2": two }));
    const { startDate, noData, causes } = seenOfMonitor(app, "1");
    expect(startDate).toBe("2026-03-09");
    expect(noData).toEqual(["03-09 00:00 → 03-09 01:00", "03-09 12:00 → 03-09 20:00"]);
    expect(causes.sort()).toEqual([
      "import major_outage 03-09 02:00 → 03-09 03:00",
      "import major_outage 03-09 09:00 → 03-09 11:00",
    ]);
  });

  test("is known earlier only once the history of each is written", async () => {
    await using app = await createTestApp();
    const beats = { "1": beatsOf(0, 36), "2": beatsOf(0, 36) };
    const known: (string | null | undefined)[] = [];
    await importPast(app, foundSite(beats), {}, ({ monitor, isOlder }) => {
      if (!isOlder && monitor === 2) known.push(seenOfMonitor(app, "1").startDate);
    });
    expect(new Set(known)).toEqual(new Set([null]));
    expect(seenOfMonitor(app, "1").startDate).toBe("2026-03-09");
  });

  test("keeps what is known of it when another monitor comes later", async () => {
    await using app = await createTestApp();
    const one = beatsOf(0, 36);
    await importPast(app, foundSite({ "1": one }));
    const before = seenOfMonitor(app, "1");
    await app.clock.advance(DAY_MS);
    const two = beatsOf(-20, 60, (hour) => Math.abs(hour) < 5);
    const report = await importPast(app, foundSite({ "1": one, "2": two }));
    expect(report.counts).toMatchObject({ created: 1 });
    const after = seenOfMonitor(app, "2");
    expect(after.startDate).toBe("2026-03-08");
    expect(after.spans).toContain("down 03-08 19:01 → 03-09 05:00");
    expect(after.causes).toEqual([
      ...before.causes,
      "import major_outage 03-08 19:01 → 03-09 00:00",
    ]);
    expect(after.noData).toEqual(["03-08 00:00 → 03-08 04:00"]);
  });
});

test("a monitor that cannot be checked has its history", async () => {
  await using app = await createTestApp();
  const held = heldMonitor("9", { components: ["component:1"], body: BODY });
  const history = pastSource({ "monitor:9": { beats: beatsOf(0, 36, (hour) => hour < 1) } });
  await importPast(app, { ...foundSite({}), monitors: [held], history });
  const { state, spans, causes, rollups, startDate } = seenOf(app, "Monitor 9", "Component 1");
  expect(state.state).toBe("paused");
  expect(spans).toEqual([
    "down 03-09 00:00 → 03-09 01:00",
    "up 03-09 01:00 → 03-10 12:00",
    "paused 03-10 12:00",
  ]);
  expect(causes).toEqual(["import major_outage 03-09 00:00 → 03-09 01:00"]);
  expect([rollups.get(DAY_MS)?.length, startDate]).toEqual([1, "2026-03-09"]);
});
