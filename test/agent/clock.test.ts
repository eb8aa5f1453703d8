import { expect, test } from "bun:test";
import { createSteadyClock } from "../../src/agent/clock";
import { createTestClock, TEST_START } from "../support/clock";

const HOUR_MS = 3_600_000;

test("the clock of an agent goes on from the time of the server, independent of the clock of the machine", async () => {
  const machine = createTestClock();
  const clock = createSteadyClock(machine, () => machine.monotonic() / 1_000);
  clock.set(TEST_START + 5 * HOUR_MS);
  await machine.advance(10_000);
  machine.setWallClock(TEST_START - HOUR_MS);
  await machine.advance(10_000);
  expect(clock.now()).toBe(TEST_START + 5 * HOUR_MS + 20_000);
  machine.setWallClock(TEST_START + 9 * HOUR_MS);
  expect(clock.now()).toBe(TEST_START + 5 * HOUR_MS + 20_000);
});

test("the time in which the machine slept counts, and the seconds of the system's uptime do not make it jump", async () => {
  const machine = createTestClock();
  let sleptSeconds = 0;
  const uptime = () => Math.floor(machine.monotonic() / 1_000) + sleptSeconds;
  const clock = createSteadyClock(machine, uptime);
  const start = clock.now();
  for (let step = 1; step <= 50; step++) {
    await machine.advance(130);
    expect(clock.now() - start).toBe(step * 130);
  }
  sleptSeconds = 600;
  await machine.advance(130);
  const passed = clock.now() - start - 51 * 130;
  expect(passed).toBeGreaterThan(598_000);
  expect(passed).toBeLessThan(602_000);
});
