import { describe, expect, test } from "bun:test";
import { settle } from "../../../support/clock";
import { openReferenceTargets } from "../../../support/reference-targets";

const TARGETS = "192.0.2.1:443,192.0.2.2:443";

function open(reachable: () => string[]) {
  let checks = 0;
  const targets = openReferenceTargets(TARGETS, async (host) => {
    checks += 1;
    return reachable().includes(host);
  });
  return { ...targets, checks: () => checks };
}

describe("connectivity of the server", () => {
  test("the server is online if one reference target answers", async () => {
    const { wasLostSince, clock } = open(() => ["192.0.2.2"]);
    expect(await wasLostSince(clock.monotonic())).toBe(false);
  });

  test("the server is offline if no reference target answers", async () => {
    const { wasLostSince, clock } = open(() => []);
    expect(await wasLostSince(clock.monotonic())).toBe(true);
  });

  test("concurrent failures ask the reference targets once, and again after five seconds", async () => {
    const { wasLostSince, clock, checks } = open(() => []);
    const answers = Array.from({ length: 50 }, () => wasLostSince(clock.monotonic()));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([true]));
    await clock.advance(4_999);
    expect(await wasLostSince(clock.monotonic())).toBe(true);
    expect(checks()).toBe(2);
    await clock.advance(1);
    await wasLostSince(clock.monotonic());
    expect(checks()).toBe(4);
  });

  test("a lost network applies to checks that started before it returned", async () => {
    let reachable: string[] = [];
    const { wasLostSince, clock } = open(() => reachable);
    const began = clock.monotonic();
    expect(await wasLostSince(began)).toBe(true);
    reachable = ["192.0.2.1"];
    await clock.advance(6_000);
    expect(await wasLostSince(began)).toBe(true);
    expect(await wasLostSince(clock.monotonic())).toBe(false);
  });

  test("the server is offline if no reference target answers within three seconds", async () => {
    const { clock, wasLostSince } = openReferenceTargets(
      TARGETS,
      (_host, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(false), { once: true });
        }),
    );
    const answer = wasLostSince(clock.monotonic());
    await settle();
    await clock.advance(3_000);
    expect(await answer).toBe(true);
  });
});
