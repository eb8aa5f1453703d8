import { describe, expect, test } from "bun:test";
import { listStoredMonitors } from "../../../src/features/monitors/declared";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { fails, openEngineSite } from "../../support/engine-site";
import { seenOf } from "../../support/past-seen";
import {
  type Beat,
  foundPast,
  importPast,
  pastMonitor,
  pastSource,
  regularBeats,
} from "../../support/past-source";
import { rolledUp, rollUpAll } from "../../support/rollups";

const MONITOR = { interval_seconds: 60, failure_threshold: 1, retry_interval_seconds: 20 };

/** Site whose engine checks a monitor that was down in the source for an hour, up to `endedAgo` ms ago. */
async function importedSite(endedAgo = 0) {
  const site = await openEngineSite({ start: "2026-03-10T12:20:00.000Z" });
  site.let("api.test", fails());
  const until = site.begin - endedAgo;
  const beats = regularBeats(
    { from: until - 3 * HOUR_MS, until },
    MINUTE_MS,
    (_, at): Omit<Beat, "at"> =>
      at < until - HOUR_MS ? { kind: "up", latencyMs: 20 } : { kind: "down", message: "refused" },
  );
  const history = pastSource({ "monitor:api": { beats } });
  const report = await importPast(site.app, foundPast([pastMonitor("api", MONITOR)], history));
  const [{ row } = never()] = listStoredMonitors(site.app.ctx.db);
  const events = () => site.app.events().filter(({ type }) => type.startsWith("monitor."));
  return { site, row, events, report };
}

function never(): never {
  throw new Error("there is no monitor");
}

describe("the checks of an imported monitor", () => {
  test.each([
    ["", 0],
    ["that the source saw an hour before it was stopped", HOUR_MS],
  ])("do not tell an outage again %s, and tell its end", async (_, endedAgo) => {
    const { site, row, events } = await importedSite(endedAgo);
    await using _site = site;
    await site.clock.advance(10 * MINUTE_MS);
    expect(site.state(row.id)).toBe("down");
    expect(events()).toEqual([]);
    site.let("api.test", () => ({ outcome: "ok", latencyMs: 20, message: null }));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(row.id)).toBe("up");
    expect(events().map(({ type }) => type)).toEqual(["monitor.up"]);
    const startedAt = new Date(site.begin - endedAgo - HOUR_MS).toISOString();
    expect(events()[0]?.data).toMatchObject({ outage: { started_at: startedAt } });
  });

  test("go on from the results of the hour in which it was created", async () => {
    const { site, row } = await importedSite();
    await using _site = site;
    await site.clock.advance(DAY_MS);
    const checks = site.checks(row.id);
    await rollUpAll(site.app as never, site.clock.now());
    const hours = rolledUp(site.app.ctx.db, row.num, HOUR_MS);
    expect(hours.slice(0, 3).map(({ checks: count, failures }) => [count, failures])).toEqual([
      [40, 0],
      [60, 0],
      [60, 40],
    ]);
    const hour = site.begin - (site.begin % HOUR_MS);
    const both = checks.filter(({ at }) => at >= hour && at < hour + HOUR_MS);
    expect(both.some(({ at }) => at < site.begin)).toBe(true);
    expect(hours.find(({ at }) => at === hour)).toMatchObject({ checks: both.length });
    const [day] = rolledUp(site.app.ctx.db, row.num, DAY_MS);
    const today = checks.filter(({ at }) => at < site.begin - (site.begin % DAY_MS) + DAY_MS);
    expect(day).toMatchObject({ checks: today.length });
    const { spans, noData } = seenOf(site.app, "api");
    expect(spans).toHaveLength(2);
    expect(noData).toHaveLength(1);
  });
});
