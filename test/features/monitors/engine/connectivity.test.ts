import { describe, expect, test } from "bun:test";
import { Connectivity } from "../../../../src/features/monitors/engine/prober";
import { Stalls } from "../../../../src/features/monitors/engine/stalls";
import { createTestClock, settle } from "../../../support/clock";

const TARGETS = [
  { host: "192.0.2.1", port: 443 },
  { host: "192.0.2.2", port: 443 },
];

function open(reachable: () => string[]) {
  const clock = createTestClock();
  let checks = 0;
  const reach = async ({ host }: { host: string }) => {
    checks += 1;
    return reachable().includes(host);
  };
  const connectivity = new Connectivity(clock, TARGETS, reach, new Stalls(clock));
  return { clock, connectivity, checks: () => checks };
}

describe("connectivity of the server", () => {
  test("the server is online if one reference target answers", async () => {
    const { connectivity, clock } = open(() => ["192.0.2.2"]);
    expect(await connectivity.wasLostSince(clock.monotonic())).toBe(false);
  });

  test("the server is offline if no reference target answers", async () => {
    const { connectivity, clock } = open(() => []);
    expect(await connectivity.wasLostSince(clock.monotonic())).toBe(true);
  });

  test("concurrent failures ask the reference targets once, and again after five seconds", async () => {
    const { connectivity, clock, checks } = open(() => []);
    const answers = Array.from({ length: 50 }, () => connectivity.wasLostSince(clock.monotonic()));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([true]));
    await clock.advance(4_999);
    expect(await connectivity.wasLostSince(clock.monotonic())).toBe(true);
    expect(checks()).toBe(2);
    await clock.advance(1);
    await connectivity.wasLostSince(clock.monotonic());
    expect(checks()).toBe(4);
  });

  test("a lost network applies to checks that started before it returned", async () => {
    let reachable: string[] = [];
    const { connectivity, clock } = open(() => reachable);
    const began = clock.monotonic();
    expect(await connectivity.wasLostSince(began)).toBe(true);
    reachable = ["192.0.2.1"];
    await clock.advance(6_000);
    expect(await connectivity.wasLostSince(began)).toBe(true);
    expect(await connectivity.wasLostSince(clock.monotonic())).toBe(false);
  });

  test("the server is offline if no reference target answers within three seconds", async () => {
    const clock = createTestClock();
    const connectivity = new Connectivity(
      clock,
      TARGETS,
      (_target, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(false), { once: true });
        }),
      new Stalls(clock),
    );
    const answer = connectivity.wasLostSince(clock.monotonic());
    await settle();
    await clock.advance(3_000);
    expect(await answer).toBe(true);
  });
});
