import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Buckets } from "../../../src/features/limits/limiter";

const MINUTE_MS = 60_000;

/** One bucket, taken from at times that the test names. */
function createBucket() {
  const buckets = new Buckets(1);
  return {
    take: (limit: number, now: number) => buckets.take(0, limit, now),
    left: (limit: number, now: number) => buckets.left(0, limit, now),
    raise: (taken: number, refillInMs: number, now: number) =>
      buckets.raise(0, taken, refillInMs, now),
  };
}

/** Milliseconds between requests, as a monotonic clock gives them: often none, seldom whole. */
const arbitraryGap = fc.oneof(
  fc.constant(0),
  fc.double({ min: 0, max: 50, noNaN: true }),
  fc.integer({ min: 0, max: 2 * MINUTE_MS }),
);
const arbitraryGaps = fc.array(arbitraryGap, { maxLength: 300 });

/** Returns the times of the requests after these gaps, and which of them were admitted. */
function send(limit: number, gaps: readonly number[]): { at: number; isAllowed: boolean }[] {
  const { take } = createBucket();
  let at = 0;
  return gaps.map((gap) => {
    at += gap;
    return { at, isAllowed: take(limit, at).isAllowed };
  });
}

describe("a minute of a bucket", () => {
  test("a minute that begins with a request admits exactly its first requests up to the limit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), arbitraryGaps, (limit, gaps) => {
        let endsAt = Number.NEGATIVE_INFINITY;
        let taken = 0;
        for (const { at, isAllowed } of send(limit, gaps)) {
          // Times are sums of fractions, so they are compared to a millionth of a ms.
          if (at >= endsAt - 1e-6) [endsAt, taken] = [at + MINUTE_MS, 0];
          expect(isAllowed).toBe(taken < limit);
          if (isAllowed) taken += 1;
        }
      }),
    );
  });

  test.each([
    [100, 115],
    [1_000, 1_001],
    [1_000, 1_030],
    [1, 2],
  ])(
    "of a limit of %d, %d requests at any steady rate within it are cut to the limit",
    (limit, count) => {
      fc.assert(
        fc.property(fc.double({ min: 0, max: MINUTE_MS - 1, noNaN: true }), (spreadMs) => {
          const gap = spreadMs / (count - 1);
          const answers = send(limit, [0, ...Array.from({ length: count - 1 }, () => gap)]);
          expect(answers.map(({ isAllowed }) => isAllowed)).toEqual(
            answers.map((_, index) => index < limit),
          );
        }),
        { numRuns: 30 },
      );
    },
  );

  test("a caller 5 % below its rate is never refused in ten minutes, nor one that is late by up to a request", () => {
    const jittered = fc.record({
      // A twentieth of smaller limits has no room for a request that is late.
      limit: fc.integer({ min: 40, max: 1_000 }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      seed: fc.integer(),
    });
    const steady = fc.record({
      limit: fc.integer({ min: 1, max: 1_000 }),
      jitter: fc.constant(0),
      seed: fc.constant(0),
    });
    const arbitraryCaller = fc.oneof(steady, jittered);
    fc.assert(
      fc.property(arbitraryCaller, ({ limit, jitter, seed }) => {
        const { take } = createBucket();
        const period = MINUTE_MS / (limit * 0.95);
        let random = seed;
        for (let request = 0; request * period < 10 * MINUTE_MS; request++) {
          random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fff_ffff;
          const at = (request + (jitter * random) / 0x7fff_ffff) * period;
          expect(take(limit, at).isAllowed).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });

  test("at most 2 × limit − 1 requests pass in 60 s that begin at any time, and so many can", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), arbitraryGaps, (limit, gaps) => {
        const admitted = send(limit, gaps).flatMap(({ at, isAllowed }) => (isAllowed ? [at] : []));
        for (const [from, start] of admitted.entries()) {
          const within = admitted.slice(from).filter((at) => at - start < MINUTE_MS - 1e-6);
          expect(within.length).toBeLessThanOrEqual(2 * limit - 1);
        }
      }),
      { numRuns: 50 },
    );
    const limit = 5;
    const late = [0, MINUTE_MS - 1, ...Array.from({ length: limit - 2 }, () => 0), 1];
    const answers = send(limit, [...late, ...Array.from({ length: limit - 1 }, () => 0)]);
    expect(answers.filter(({ at, isAllowed }) => at > 0 && isAllowed)).toHaveLength(2 * limit - 1);
  });
});

describe("a decision of a bucket", () => {
  test("a decision names the tokens left and the whole seconds until the refill, 1 to 60", () => {
    const { take } = createBucket();
    const decisions = [0, 1, 30_000, 30_001, 59_999, 60_000].map((at) => take(3, at));
    expect(
      decisions.map(({ isAllowed, remaining, refillInSeconds }) => [
        isAllowed,
        remaining,
        refillInSeconds,
      ]),
    ).toEqual([
      [true, 2, 60],
      [true, 1, 60],
      [true, 0, 30],
      [false, 0, 30],
      [false, 0, 1],
      [true, 2, 60],
    ]);
  });

  test("a refused caller that waits for the seconds of its refusal has the whole limit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), arbitraryGaps, (limit, gaps) => {
        const { take } = createBucket();
        let now = 0;
        for (const gap of gaps) take(limit, (now += gap));
        let decision = take(limit, now);
        while (decision.isAllowed) decision = take(limit, now);
        const { refillInSeconds } = decision;
        expect(refillInSeconds).toBeOneOf(Array.from({ length: 60 }, (_, second) => second + 1));
        // Requests before the refill, which comes in the last of the seconds, change nothing.
        take(limit, now + (refillInSeconds - 1) * 500);
        const waited = now + refillInSeconds * 1_000;
        for (let left = limit - 1; left >= 0; left--) {
          expect(take(limit, waited)).toMatchObject({ isAllowed: true, remaining: left });
        }
      }),
    );
  });

  test("looking at a bucket takes no token and begins no minute", () => {
    const { take, left } = createBucket();
    expect(left(10, 0)).toBe(10);
    take(10, 30_000);
    expect([left(10, 89_999), left(10, 90_000)]).toEqual([9, 10]);
  });
});

describe("a changed limit", () => {
  test("a changed limit counts at once, against what was taken", () => {
    const { take, left } = createBucket();
    for (let request = 0; request < 50; request++) take(100, 0);
    expect(take(6, 0)).toMatchObject({ isAllowed: false, remaining: 0, limit: 6 });
    expect(take(51, 0)).toMatchObject({ isAllowed: true, remaining: 0, limit: 51 });
    expect([left(6, 0), left(200, 0)]).toEqual([0, 149]);
    expect(take(6, MINUTE_MS)).toMatchObject({ isAllowed: true, remaining: 5 });
  });

  test("changed limits never admit more in a minute than the largest one allows", () => {
    const changes = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 200 });
    fc.assert(
      fc.property(changes, (limits) => {
        const { take } = createBucket();
        const admitted = limits.filter((limit, index) => take(limit, index).isAllowed).length;
        expect(admitted).toBeLessThanOrEqual(Math.max(0, ...limits));
      }),
    );
  });
});

test("what is known of a bucket is only ever added, and lasts until the later end of both minutes", () => {
  const { take, left, raise } = createBucket();
  raise(4, 20_000, 0);
  expect([left(10, 0), left(10, 19_999), left(10, 20_000)]).toEqual([6, 6, 10]);
  raise(2, 30_000, 0);
  expect([left(10, 29_999), left(10, 30_000)]).toEqual([6, 10]);
  take(10, 40_000);
  raise(7, 5_000, 41_000);
  expect([left(10, 99_999), left(10, 100_000)]).toEqual([3, 10]);
  // Nothing of a minute that is over is added.
  raise(2, 30_000, 110_000);
  expect(left(10, 110_000)).toBe(8);
});
