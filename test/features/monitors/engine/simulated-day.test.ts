import { expect, test } from "bun:test";
import type { CheckRow } from "../../../../src/features/monitors/checks-store";
import { listSpans } from "../../../../src/features/monitors/spans-store";
import { retentionOf, rollUp } from "../../../../src/features/monitors/rollup";
import { timesByState, troublesOf, uptimeOf } from "../../../../src/features/monitors/uptime";
import type { MonitorRow } from "../../../../src/features/monitors/store";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDay } from "../../../../src/base/time";
import { listCausesOfPage } from "../../../support/causes";
import { recounted, rolledUp } from "../../../support/rollups";
import { openEngineSite, type Target, type EngineSite } from "../../../support/engine-site";

/** Time after an hour until its results are rolled up. */
const ROLL_UP_DELAY_MS = 5 * MINUTE_MS;

const MONITORS = 200;
const COMPONENTS = 20;
const INTERVAL_SECONDS = 900;
const FAILURES = 3;
const SUCCESSES = 2;

/** Numbers from 0 up to 1 that are the same at each run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A target with a few outages in the day, and some checks that fail in between. */
function moody(site: EngineSite, seed: number): Target {
  const next = numbers(seed);
  const outages = Array.from({ length: Math.floor(next() * 3) }, () => {
    const from = site.begin + next() * DAY_MS;
    return { from, to: from + next() * 2 * HOUR_MS };
  });
  return () => {
    const now = site.clock.now();
    const isOut = outages.some(({ from, to }) => now >= from && now < to);
    const hasFailed = isOut || next() < 0.02;
    const latencyMs = hasFailed ? null : Math.floor(20 + next() * 400);
    return { outcome: hasFailed ? "failed" : "ok", latencyMs, message: null };
  };
}

/**
 * The outages that some results tell of, by looking ahead from each: down where the next three failed, up
 * again where the next two did not.
 */
function recount(results: readonly CheckRow[]): { from: number; to: number | null }[] {
  const failed = results.map(({ outcome }) => outcome === "failed");
  const are = (start: number, count: number, what: boolean) =>
    start + count <= failed.length && failed.slice(start, start + count).every((f) => f === what);
  const outages: { from: number; to: number | null }[] = [];
  for (const [i, { at }] of results.entries()) {
    const open = outages.at(-1);
    const isDown = open !== undefined && open.to === null;
    if (!isDown && are(i, FAILURES, true)) outages.push({ from: at, to: null });
    else if (isDown && are(i, SUCCESSES, false)) open.to = at;
  }
  return outages;
}

test("the data of 200 monitors over a day equals a recount of all results", async () => {
  await using site = await openEngineSite({ isStarted: false });
  const { page, components } = await site.app.page(
    {},
    Array.from({ length: COMPONENTS }, (_, i) => `Component ${i}`),
  );
  const componentIds = Object.values(components);
  const monitors: MonitorRow[] = [];
  for (let i = 0; i < MONITORS; i++) {
    const name = `m${i}`;
    site.let(`${name}.test`, moody(site, i + 1));
    const monitor = await site.monitor({
      name,
      interval_seconds: INTERVAL_SECONDS,
      retry_interval_seconds: 60,
      failure_threshold: FAILURES,
      success_threshold: SUCCESSES,
      component_ids: [componentIds[i % COMPONENTS] ?? ""],
    });
    monitors.push(monitor);
  }
  await site.start();
  const startedAt = site.clock.now();
  await site.clock.advance(DAY_MS);
  await site.stop();

  const { db, config } = site.app.ctx;
  const now = site.clock.now();
  const later = now + HOUR_MS + ROLL_UP_DELAY_MS;
  while (await db.write((tx) => rollUp(tx, { now: later }, retentionOf(config))));
  const today = startOfDay(later);
  const causes = Map.groupBy(
    listCausesOfPage(db, { pageId: page.id, since: 0 }).map(({ cause }) => cause),
    ({ sourceId }) => sourceId,
  );
  const eventsById = Map.groupBy(
    site.app.events().filter(({ type }) => type.startsWith("monitor.")),
    ({ subjectId }) => subjectId,
  );
  const total = { checks: 0, outages: 0 };
  for (const { id, num } of monitors) {
    const results = site.checks(id);
    total.checks += results.length;
    const first = results[0]?.at ?? 0;
    expect(first - startedAt).toBeLessThanOrEqual(INTERVAL_SECONDS * SECOND_MS);

    for (const size of [MINUTE_MS, HOUR_MS]) {
      expect(rolledUp(db, num, size)).toEqual(recounted(results, size));
    }
    // Of the days that are over.
    const past = results.filter(({ at }) => at < today);
    expect(rolledUp(db, num, DAY_MS)).toEqual(recounted(past, DAY_MS));

    const desired = recount(results);
    total.outages += desired.length;
    const all = { nums: JSON.stringify([num]), from: 0, to: Number.MAX_SAFE_INTEGER };
    const spans = listSpans(db, all).map(({ row }) => row);
    const within = { from: first, to: now };
    expect(
      troublesOf(spans, within, now)
        .filter(({ state }) => state === "down")
        .map(({ startedAt: from, endedAt: to }) => ({ from, to })),
    ).toEqual(desired);

    const downMs = desired.reduce((sum, { from, to }) => sum + (to ?? now) - from, 0);
    const times = timesByState(spans, within);
    expect(times.down).toBe(downMs);
    const knownMs = times.up + times.degraded + times.down;
    expect(uptimeOf(times)).toBe(Math.floor((1 - downMs / knownMs) * 1e6) / 1e6);
    expect(now - first - knownMs).toBeLessThan(60 * MINUTE_MS);

    expect(
      (causes.get(id) ?? []).map(({ startedAt: from, endedAt: to }) => ({ from, to })),
    ).toEqual(desired);
    expect((eventsById.get(id) ?? []).map(({ type }) => type)).toEqual(
      desired.flatMap(({ to }) =>
        to === null ? ["monitor.down"] : ["monitor.down", "monitor.up"],
      ),
    );
  }
  expect(total.checks).toBe(site.checkCount());
  expect(total.checks).toBeGreaterThan(19_200);
  expect(total.outages).toBeGreaterThan(100);
}, 600_000);
