import { describe, expect, test } from "bun:test";
import { createLoadThrottle } from "../../../src/features/sending/throttle";
import { createTestClock } from "../../support/clock";

/** A server whose thread is at work for a part of the time, with so many requests a second. */
function throttleUnder(work: { load: number; requests: number }) {
  const clock = createTestClock();
  const throttle = createLoadThrottle(clock, {
    busyMs: () => clock.monotonic() * work.load,
    requests: () => (clock.monotonic() * work.requests) / 1_000,
  });
  return { clock, throttle };
}

/** Takes all the leave that there is within so many seconds. */
async function takenIn(seconds: number, work: { load: number; requests: number }) {
  const { clock, throttle } = throttleUnder(work);
  const taken: number[] = [];
  for (let second = 0; second < seconds; second++) {
    let count = 0;
    for (let passed = 0; passed < 1_000; passed += 10) {
      while (throttle.take()) count += 1;
      await clock.advance(10);
    }
    taken.push(count);
  }
  return taken;
}

describe("the load throttle of deliveries", () => {
  test("the load throttle allows 256 deliveries at once", () => {
    const { throttle } = throttleUnder({ load: 1, requests: 9_000 });
    for (let count = 0; count < 256; count++) expect(throttle.take()).toBe(true);
    expect(throttle.take()).toBe(false);
    expect(throttle.waitMs()).toBeGreaterThan(0);
  });

  test.each([
    ["nothing else to do", { load: 0.5, requests: 0 }],
    ["nothing else to do than to deliver", { load: 1, requests: 10 }],
    ["requests that leave it time", { load: 0.5, requests: 5_000 }],
  ])("the load throttle allows thousands per second on a server with %s", async (_what, work) => {
    const taken = await takenIn(3, work);
    expect(Math.min(...taken)).toBeGreaterThan(1_000);
    expect(taken.at(-1)).toBeGreaterThan(4_000);
  });

  test("the load throttle allows hundreds per second on a server busy with requests", async () => {
    const taken = await takenIn(3, { load: 1, requests: 9_000 });
    expect(taken.at(-1)).toBeLessThan(300);
    expect(taken.at(-1)).toBeGreaterThan(200);
  });

  test("the load throttle releases waiting deliveries in groups of at least 64", async () => {
    const { clock, throttle } = throttleUnder({ load: 1, requests: 9_000 });
    const together = new Set<number>();
    for (let passed = 0; passed < 3_000; passed += 10) {
      let count = 0;
      while (throttle.take()) count += 1;
      if (count > 0) together.add(count);
      await clock.advance(10);
    }
    expect(Math.min(...together)).toBe(64);
  });

  test("the load throttle returns the time until the next delivery", async () => {
    const { clock, throttle } = throttleUnder({ load: 1, requests: 9_000 });
    while (throttle.take());
    const waitMs = throttle.waitMs();
    await clock.advance(Math.floor(waitMs / 2));
    expect(throttle.take()).toBe(false);
    await clock.advance(Math.ceil(waitMs / 2));
    expect(throttle.take()).toBe(true);
  });

  test("the load throttle starts fresh after a pause", async () => {
    const { clock, throttle } = throttleUnder({ load: 1, requests: 9_000 });
    const takeFor = async (ms: number) => {
      let count = 0;
      for (let passed = 0; passed < ms; passed += 10) {
        while (throttle.take()) count += 1;
        await clock.advance(10);
      }
      return count;
    };
    await takeFor(2_000);
    const tired = await takeFor(100);
    await clock.advance(5_000);
    expect(await takeFor(100)).toBeGreaterThan(tired + 100);
  });
});
