import { expect, test } from "bun:test";
import type { CheckRow } from "../../../src/features/monitors/checks-store";
import { listStoredMonitors } from "../../../src/features/monitors/declared";
import { sparklinesOf } from "../../../src/features/monitors/latency";
import { listAllPages } from "../../../src/features/pages/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS, toIso } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { createTestClock } from "../../support/clock";
import { answers, fails, openEngineSite, type Target } from "../../support/engine-site";
import {
  type Beat,
  foundPast,
  importPast,
  pastMonitor,
  pastSource,
} from "../../support/past-source";
import { rollUpAll } from "../../support/rollups";
import { updatePage } from "../../support/examined";

const START = "2026-03-10T00:00:00Z";
const MONITOR = { interval_seconds: 60, retry_interval_seconds: 20, failure_threshold: 3 };

/** Answers with changing latencies. */
function varied(): Target {
  let latencyMs = 20;
  return () => {
    latencyMs = (latencyMs * 7 + 13) % 400;
    return { outcome: "ok", latencyMs, message: null };
  };
}

/** Site whose engine has checked a monitor for four days with two outages and a failure between two successes. */
async function checkedSite() {
  const site = await openEngineSite({ start: START });
  const { components } = await site.app.page(
    { slug: "internal", name: "Internal", visibility: "private" },
    ["api"],
  );
  const component_ids = [components["api"] ?? ""];
  const { id } = await site.monitor({ ...MONITOR, component_ids });
  const phases: [hours: number, target: Target][] = [
    [30, varied()],
    [5, fails()],
    [30, varied()],
    [1 / 60, fails()],
    [10, varied()],
    [3, fails()],
    [14.3, answers(80)],
  ];
  for (const [hours, target] of phases) {
    site.let("api.test", target);
    await site.clock.advance(hours * HOUR_MS);
  }
  return { site, id };
}

/** Returns checks as beats of a source that calls the first two failures of a row pending. */
function asBeats(checks: readonly CheckRow[]): Beat[] {
  let failures = 0;
  return checks.map(({ at, outcome, latencyMs, message }) => {
    failures = outcome === "failed" ? failures + 1 : 0;
    const kind = failures === 0 ? "up" : failures < MONITOR.failure_threshold ? "pending" : "down";
    return { at, kind, latencyMs, ...(message !== null && { message }) };
  });
}

/** Everything that people and programs see of a monitor's history, without ids. */
async function seenOf(app: TestApp, now: number) {
  const [{ row } = never()] = listStoredMonitors(app.ctx.db);
  const [page = never()] = listAllPages(app.ctx.db, {});
  await app.ctx.db.write((tx) =>
    updatePage(app.ctx, tx, page.id, { visibility: "public" }, CLI_ACTOR),
  );
  const key = await app.keyWith("read:analytics", "read:status");
  const range = `from=${START}&to=${toIso(now)}`;
  const read = async (path: string) => {
    const { body } = await app.call(`/api/v1/${path}`, { key });
    return JSON.parse(withoutIds(JSON.stringify(body))) as unknown;
  };
  const html = (await app.call("/status/internal")).text;
  const [bars = never()] = /<li class="component">.*?<\/li>/s.exec(html) ?? [];
  return {
    component: await read(`analytics/uptime?component=internal:api&interval=day&${range}`),
    monitor: await read(`analytics/uptime?monitor=${row.id}&interval=day&${range}`),
    latencyByHour: await read(`analytics/latency?monitor=${row.id}&interval=hour&${range}`),
    latencyByDay: await read(`analytics/latency?monitor=${row.id}&interval=day&${range}`),
    sparkline: sparklinesOf(app.ctx.db, [row.num], now).get(row.num),
    bars,
  };
}

const withoutIds = (text: string) => text.replaceAll(/(cmp|pag|mon|grp)_[0-9a-z]+/g, "$1");

function never(): never {
  throw new Error("it is not there");
}

test("an imported history shows the same as if the checks had been made here", async () => {
  const { site: checked, id } = await checkedSite();
  await using _site = checked;
  const now = checked.clock.now();
  const beats = asBeats(checked.checks(id));
  await rollUpAll(checked.app as never, now);

  await using app = await createTestApp({ clock: createTestClock(now) });
  const found = foundPast([pastMonitor("api", MONITOR)], pastSource({ "monitor:api": { beats } }));
  const report = await importPast(app, found);
  expect(report.history).toMatchObject({ results: beats.length, days: 4, skipped: {} });
  await rollUpAll(app as never, now);

  const [ours, theirs] = [await seenOf(checked.app, now), await seenOf(app, now)];
  expect(theirs.component).toEqual(ours.component);
  expect(theirs.monitor).toEqual(ours.monitor);
  expect(theirs.latencyByDay).toEqual(ours.latencyByDay);
  expect(theirs.latencyByHour).toEqual(ours.latencyByHour);
  expect(theirs.sparkline).toEqual(ours.sparkline);
  expect(theirs.bars).toBe(ours.bars);
});
