import { beforeEach, expect, test } from "bun:test";
import { watchRestoreCheck } from "../../../src/fleet/primary/primaryship";
import type { Timer } from "../../../src/base/clock";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { createTestClock, TEST_START, type TestClock } from "../../support/clock";
import { createMemoryStore, type MemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";

let clock: TestClock;
let store: MemoryStore;
let raised: string | undefined;
let hasEligible: boolean;
let timer: Timer;

beforeEach(() => {
  clock = createTestClock();
  store = createMemoryStore();
  raised = undefined;
  hasEligible = true;
  const alarms = {
    raise: (_kind: string, detail: string) => void (raised = detail),
    clear: () => void (raised = undefined),
  };
  const { log } = createTestLog("silent");
  timer?.cancel();
  timer = watchRestoreCheck({ clock, log, store, alarms, hasEligible: () => hasEligible });
});

async function storeResult(error: string | null): Promise<void> {
  const result = { at: clock.now(), node: "oslo", prefix: "term-000001-1", txid: 7, error };
  await store.put("restore-check.json", new TextEncoder().encode(JSON.stringify(result)));
}

test("the alarm of the nightly restore is raised 26 hours after the last one that worked", async () => {
  await storeResult(null);
  await clock.advance(26 * HOUR_MS);
  expect(raised).toBeUndefined();
  await clock.advance(10 * MINUTE_MS);
  expect(raised).toBe("The last restore that worked was at 2026-03-10T12:00:00.000Z.");
  await storeResult(null);
  await clock.advance(10 * MINUTE_MS);
  expect(raised).toBeUndefined();
});

test("the alarm of the nightly restore has the reason of one that failed, until the next works", async () => {
  await storeResult("The restored database is damaged: row 3 is missing.");
  await clock.advance(10 * MINUTE_MS);
  expect(raised).toBe(
    "2026-03-10T12:00:00.000Z: The restored database is damaged: row 3 is missing.",
  );
  store.isDown = true;
  await clock.advance(30 * HOUR_MS);
  expect(raised).toStartWith("2026-03-10T12:00:00.000Z");
  store.isDown = false;
  await storeResult(null);
  await clock.advance(10 * MINUTE_MS);
  expect(raised).toBeUndefined();
});

test("without an eligible replica, which could restore, there is no alarm", async () => {
  hasEligible = false;
  await clock.advance(48 * HOUR_MS);
  expect(raised).toBeUndefined();
  hasEligible = true;
  await clock.advance(26 * HOUR_MS);
  expect(raised).toBeUndefined();
  await clock.advance(20 * MINUTE_MS);
  expect(raised).toBe("The log in the fleet store was never restored.");
  expect(clock.now()).toBeGreaterThan(TEST_START);
});

test("a result that cannot be read changes nothing", async () => {
  await store.put("restore-check.json", new TextEncoder().encode("{"));
  await clock.advance(HOUR_MS);
  expect(raised).toBeUndefined();
});

test("the alarm is raised again soon after a start, before that of the process before would end", async () => {
  await storeResult("The restored database is damaged: row 3 is missing.");
  await clock.advance(MINUTE_MS);
  expect(raised).toContain("row 3 is missing");
});
