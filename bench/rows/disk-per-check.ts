import { Database } from "bun:sqlite";
import { join } from "node:path";
import { retentionOf, rollUp } from "../../src/features/monitors/rollup";
import { type Entry, recordEntries } from "../../src/features/monitors/engine/record";
import { Roster } from "../../src/features/monitors/engine/roster";
import type { AppContext } from "../../src/context";
import { type Figure, rounded } from "../support/figure";
import { openData } from "../support/open-data";
import { seed } from "../support/seed";
import { seedMonitors } from "../support/watching";
import type { Workshop } from "../support/workshop";

const MONITORS = 40;
const INTERVAL_SECONDS = 60;
const DAYS = 30;
const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const REACH_BYTES = 40;
/** One check in so many fails by itself, and one in so many is the first of a few that fail. */
const FAILS_ONE_IN = 500;
const GOES_DOWN_ONE_IN = 3_000;
const OUTAGE_CHECKS = 15;

/**
 * What thirty days of checks leave behind in the file: those of the last two days one by one, all of them
 * rolled up, outages with what follows from them. Written as the server does, a batch a second, and rolled
 * up hour by hour, under a clock of the bench's own.
 */
export async function measureDiskPerCheck(workshop: Workshop): Promise<Figure[]> {
  const dataDir = workshop.path("data");
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
      reach: `${REACH_BYTES} bytes`,
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
  const ctx: AppContext = { ...installation.ctx, clock };
  const roster = new Roster();
  roster.refresh(ctx.db);
  const watched = [...roster];
  const failing = new Map<number, number>();
  const random = numbers(1);
  const kept = retentionOf(ctx.config);
  let checks = 0;
  try {
    for (; now < begin + DAYS * 24 * HOUR_MS; now += SECOND_MS) {
      const second = Math.floor((now - begin) / SECOND_MS) % INTERVAL_SECONDS;
      const due = watched.filter(({ num }) => (num * 7) % INTERVAL_SECONDS === second);
      const entries = due.map((one): Entry => {
        const left = failing.get(one.num) ?? (random() < 1 / GOES_DOWN_ONE_IN ? OUTAGE_CHECKS : 0);
        failing.set(one.num, Math.max(0, left - 1));
        const hasFailed = left > 0 || random() < 1 / FAILS_ONE_IN;
        return {
          kind: "check",
          watched: one,
          at: now + Math.floor(random() * SECOND_MS),
          outcome: hasFailed ? "failed" : "ok",
          // Most answers take about as long as the one before, some several times that.
          latencyMs: hasFailed ? null : Math.round((30 + one.num) * (1 + random() ** 8 * 9 + random() / 3)),
          message: hasFailed ? "The server answered 503, where 200 to 299 was expected." : null,
        };
      });
      checks += entries.length;
      if (entries.length > 0) await ctx.db.write((tx) => recordEntries(ctx, tx, entries, false));
      if ((now - begin) % HOUR_MS === 0) {
        while (await ctx.db.write((tx) => rollUp(tx, { now }, kept)));
      }
    }
  } finally {
    installation.close();
  }
  return checks;
}

/** What is in the file once the log of its last commits is. */
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
