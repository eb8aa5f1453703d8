import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Bucket,
  takeToken,
  timeToFullMs,
  tokensLeft,
} from "../../../src/features/limits/bucket";

const MINUTE_MS = 60_000;
// Tolerance for rounding, so that a caller who waits for Retry-After is accepted.
const FORGIVEN = 0.01;

const arbitraryLimit = fc.oneof(
  fc.integer({ min: 1, max: 120 }),
  fc.integer({ min: 1, max: 1_000_000 }),
);
/** Milliseconds between requests, as a monotonic clock gives them: often none, seldom whole. */
const arbitraryGap = fc.oneof(
  fc.constant(0),
  fc.double({ min: 0, max: 50, noNaN: true }),
  fc.integer({ min: 0, max: 2 * MINUTE_MS }),
);
const arbitraryGaps = fc.array(arbitraryGap, { maxLength: 300 });

const fresh = (): Bucket => ({ spent: 0, at: 0 });

/** The moments at which requests that come after these gaps are admitted. */
function admitted(bucket: Bucket, limit: number, gaps: readonly number[]): number[] {
  let now = bucket.at;
  return gaps.flatMap((gap) => {
    now += gap;
    return takeToken(bucket, limit, now).isAllowed ? [now] : [];
  });
}

/** A bucket just drained, after a history of requests. */
function drained(limit: number, gaps: readonly number[]): { bucket: Bucket; now: number } {
  const bucket = fresh();
  admitted(bucket, limit, gaps);
  const now = bucket.at;
  while (takeToken(bucket, limit, now).isAllowed);
  return { bucket, now };
}

describe("a token bucket", () => {
  test("a bucket admits at most its limit and the refill in any period", () => {
    const crowd = fc
      .integer({ min: 1, max: 60 })
      .chain((limit) => fc.record({ limit: fc.constant(limit), gaps: arbitraryGaps }));
    fc.assert(
      fc.property(crowd, ({ limit, gaps }) => {
        const moments = admitted(fresh(), limit, gaps);
        for (const [from, start] of moments.entries()) {
          for (let to = from; to < moments.length; to++) {
            const elapsed = (moments[to] ?? 0) - start;
            const most = limit + (elapsed * limit) / MINUTE_MS + FORGIVEN;
            if (to - from + 1 > most) throw new Error(`${to - from + 1} in ${elapsed} ms`);
          }
        }
      }),
    );
  });

  test("a bucket admits at most 2 × limit − 1 requests in any minute", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 400 }),
        (limit, gap) => {
          const moments = admitted(
            fresh(),
            limit,
            Array.from({ length: 500 }, () => gap),
          );
          for (const [from, start] of moments.entries()) {
            const inMinute = moments.slice(from).filter((at) => at - start < MINUTE_MS);
            expect(inMinute.length).toBeLessThanOrEqual(2 * limit - 1);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  test("a bucket admits exactly its limit at once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), (limit) => {
        const bucket = fresh();
        for (let i = 1; i <= limit; i++) {
          expect(takeToken(bucket, limit, 0)).toMatchObject({
            isAllowed: true,
            remaining: limit - i,
          });
        }
        expect(takeToken(bucket, limit, 0)).toMatchObject({ isAllowed: false, remaining: 0 });
      }),
      { numRuns: 20 },
    );
  });

  test("a bucket admits a caller after exactly Retry-After seconds, which is the minimum", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), arbitraryGaps, (limit, gaps) => {
        const { bucket, now } = drained(limit, gaps);
        const { retryAfterSeconds } = takeToken({ ...bucket }, limit, now);
        expect(Number.isInteger(retryAfterSeconds)).toBe(true);
        expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
        const waited = now + retryAfterSeconds * 1_000;
        expect(takeToken({ ...bucket }, limit, waited).isAllowed).toBe(true);
        if (retryAfterSeconds > 1) {
          expect(takeToken({ ...bucket }, limit, waited - 1_001).isAllowed).toBe(false);
        }
      }),
    );
  });

  test("a bucket admits a caller after Retry-After even if rejected requests come in between", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), arbitraryGaps, (limit, gaps) => {
        const { bucket, now } = drained(limit, gaps);
        const waitMs = takeToken(bucket, limit, now).retryAfterSeconds * 1_000;
        for (const share of [0.1, 0.3, 0.7, 0.9]) {
          const probe = { ...bucket };
          if (!takeToken(probe, limit, now + share * waitMs).isAllowed)
            Object.assign(bucket, probe);
        }
        expect(takeToken(bucket, limit, now + waitMs).isAllowed).toBe(true);
      }),
    );
  });

  test("a bucket is full again after exactly timeToFullMs", () => {
    fc.assert(
      fc.property(arbitraryLimit, arbitraryGaps, (limit, gaps) => {
        const bucket = fresh();
        admitted(bucket, limit, [0, ...gaps]);
        const ttl = timeToFullMs(bucket, limit);
        expect(Number.isInteger(ttl)).toBe(true);
        expect(tokensLeft(bucket, limit, bucket.at + ttl)).toBe(limit);
        const perMs = limit / MINUTE_MS;
        expect(bucket.spent - (ttl - 2) * perMs).toBeGreaterThan(0);
      }),
    );
  });

  test("tokensLeft returns the remaining tokens without taking any", () => {
    fc.assert(
      fc.property(arbitraryLimit, arbitraryGaps, (limit, gaps) => {
        const bucket = fresh();
        admitted(bucket, limit, gaps);
        const decision = takeToken(bucket, limit, bucket.at);
        expect(tokensLeft(bucket, limit, bucket.at)).toBe(decision.remaining);
        expect(tokensLeft(bucket, limit, bucket.at)).toBe(decision.remaining);
      }),
    );
  });
});

describe("a changed limit", () => {
  test("a raised limit adds the difference at once", () => {
    const bucket = fresh();
    for (let i = 0; i < 6; i++) takeToken(bucket, 5, 0);
    expect(takeToken(bucket, 8, 0)).toMatchObject({ isAllowed: true, remaining: 2, limit: 8 });
  });

  test("a limit lowered below the spent tokens empties the bucket, which refills at the new rate", () => {
    const bucket = fresh();
    for (let i = 0; i < 50; i++) takeToken(bucket, 100, 0);
    expect(takeToken(bucket, 6, 0)).toMatchObject({ isAllowed: false, retryAfterSeconds: 10 });
    expect(takeToken(bucket, 6, 10_000)).toMatchObject({ isAllowed: true, remaining: 0 });
  });

  test("changed limits never admit more than the largest one allows", () => {
    const changes = fc.array(fc.tuple(arbitraryGap, fc.integer({ min: 1, max: 20 })), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(changes, (steps) => {
        const bucket = fresh();
        let [now, count] = [0, 0];
        for (const [gap, limit] of steps) {
          now += gap;
          if (takeToken(bucket, limit, now).isAllowed) count += 1;
        }
        expect(count).toBeLessThanOrEqual(20 + (now * 20) / MINUTE_MS + FORGIVEN);
      }),
    );
  });
});
