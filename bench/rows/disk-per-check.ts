import { Database } from "bun:sqlite";
import { join } from "node:path";
import { retentionOf, rollUp } from "../../src/features/monitors/rollup";
import type { Entry } from "../../src/features/monitors/engine/entry";
import { recordEntries } from "../../src/features/monitors/engine/record";
import {
  MonitorRegistry,
  type ScheduledMonitor,
} from "../../src/features/monitors/engine/registry";
import type { Ctx } from "../../src/context";
import { ALL_PRESENT } from "../../test/support/agents";
import { type Figure, rounded } from "../support/figure";
import { openData } from "../support/open-data";
import { seed } from "../support/seed";
import { seedMonitors } from "../support/watching";
import type { Workspace } from "../support/workspace";

const MONITORS = 40;
const INTERVAL_SECONDS = 60;
const DAYS = 30;
const INTERVAL_MS = INTERVAL_SECONDS * 1_000;
const HOUR_MS = 3_600_000;
const REACH_BYTES = 40;
/** One check in so many fails by itself, and one in so many is the first of a few that fail. */
const FAILS_ONE_IN = 500;
const GOES_DOWN_ONE_IN = 3_000;
const OUTAGE_CHECKS = 15;

/**
 * Measures the disk space of thirty days of checks: results of the last two days, rollups of all,
 * outages and their consequences. The server's own code writes them in order of time under a
 * simulated clock and rolls them up hour by hour.
 */
export async function measureDiskPerCheck(workspace: Workspace): Promise<Figure[]> {
  const dataDir = workspace.path("data");
  const { componentIds } = await seed(dataDir);
  const file = join(dataDir, "allclear.db");
  const empty = fileBytes(file);
  const url = "http://127.0.0.1:9";
  const count = MONITORS;
  await seedMonitors(dataDir, { count, intervalSeconds: INTERVAL_SECONDS, url, componentIds });
  const checks = await simulate(dataDir);
  const each = (fileBytes(file) - empty) / checks;
  return [
    {
      what: `disk for a check: what ${DAYS} days of ${MONITORS} monitors at ${INTERVAL_SECONDS} s left in the file, for each of ${rounded(checks)} checks`,
      target: `${REACH_BYTES} bytes`,
      measured: `${each.toFixed(1)} bytes`,
      isReached: each <= REACH_BYTES,
    },
  ];
}

/** Answers how many checks there were. */
async function simulate(dataDir: string): Promise<number> {
  const installation = openData(dataDir);
  const begin = Date.now();
  let now = begin;
  const clock = { ...installation.ctx.clock, now: () => now };
  const ctx: Ctx = { ...installation.ctx, clock };
  const registry = new MonitorRegistry();
  registry.refresh(ctx.db);
  const scheduled = [...registry];
  const failing = new Map<number, number>();
  const random = numbers(1);
  const kept = retentionOf(ctx.config);
  let checks = 0;

  function hourOf(one: ScheduledMonitor): Entry[] {
    return Array.from({ length: HOUR_MS / INTERVAL_MS }, (_, n) => {
      const left = failing.get(one.num) ?? 0;
      const isDown = left > 0 || random() < 1 / GOES_DOWN_ONE_IN;
      failing.set(one.num, left > 0 ? left - 1 : isDown ? OUTAGE_CHECKS : 0);
      const hasFailed = isDown || random() < 1 / FAILS_ONE_IN;
      return {
        kind: "check",
        scheduled: one,
        at: now + n * INTERVAL_MS + Math.floor((one.num / MONITORS + random() / 100) * INTERVAL_MS),
        outcome: hasFailed ? "failed" : "ok",
        // Most answers take about as long as the one before, some several times that.
        latencyMs: hasFailed
          ? null
          : Math.round((30 + one.num) * (1 + random() ** 8 * 9 + random() / 3)),
        message: hasFailed ? "The status is 503, not 2xx." : null,
      };
    });
  }

  try {
    while (now < begin + DAYS * 24 * HOUR_MS) {
      const entries = scheduled.flatMap((one) => hourOf(one));
      entries.sort((a, b) => a.at - b.at);
      now += HOUR_MS;
      checks += entries.length;
      await ctx.db.write((tx) => recordEntries(ctx, tx, entries, false, ALL_PRESENT));
      while (await ctx.db.write((tx) => rollUp(tx, { now }, kept)));
    }
  } finally {
    installation.close();
  }
  return checks;
}

/** Returns the size of a database file in bytes after its write-ahead log is merged into it. */
function fileBytes(file: string): number {
  const database = new Database(file);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return Bun.file(file).size;
}

/** Numbers from 0 up to 1 that are the same at each run (mulberry32). */
function numbers(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
