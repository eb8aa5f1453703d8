import { describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/kernel/time";
import { openWatch, type Watch } from "../../../support/watch";

const OK = { outcome: "ok", latencyMs: null, message: null } as const;

async function openJob(input = {}, env: Record<string, string> = {}) {
  const watch = await openWatch({ env });
  const { id } = await watch.monitor({
    name: "backup",
    type: "push",
    config: { grace_seconds: 30 },
    interval_seconds: 600,
    failure_threshold: 1,
    ...input,
  });
  await watch.clock.advance(SECOND_MS);
  return { watch, id };
}

/** When a span of a timeline begins, in seconds since the test began. */
function beginOf(span = ""): number {
  return Number(span.split(" ")[1]);
}

async function beatFor(watch: Watch, id: string, minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed += 10) {
    await watch.engine.heartbeat(id, OK);
    await watch.clock.advance(10 * MINUTE_MS);
  }
}

describe("a push monitor", () => {
  test("is up with the first heartbeat, which is stored as a result", async () => {
    const { watch, id } = await openJob();
    await using _ = watch;
    expect(watch.state(id)).toBe("pending");
    await watch.engine.heartbeat(id, { ...OK, latencyMs: 1_234.6, message: "12 files" });
    expect(watch.state(id)).toBe("up");
    expect(watch.checks(id)).toMatchObject([
      { outcome: "ok", latencyMs: 1_235, message: "12 files" },
    ]);
    expect(watch.asked()).toBe(0);
  });

  test("stays up while its job calls in time", async () => {
    const { watch, id } = await openJob();
    await using _ = watch;
    await beatFor(watch, id, 120);
    expect(watch.state(id)).toBe("up");
    expect(watch.checks(id).every(({ outcome }) => outcome === "ok")).toBe(true);
  });

  test("is down once no heartbeat came within its interval and its grace", async () => {
    const { watch, id } = await openJob();
    await using _ = watch;
    await watch.engine.heartbeat(id, OK);
    const last = watch.clock.now();
    await watch.clock.advance(10 * MINUTE_MS + 29 * SECOND_MS);
    expect(watch.state(id)).toBe("up");
    await watch.clock.advance(2 * SECOND_MS);
    expect(watch.state(id)).toBe("down");
    expect(watch.checks(id).at(-1)).toMatchObject({
      at: last + 630 * SECOND_MS,
      message: "No heartbeat came in time.",
    });
    await watch.engine.heartbeat(id, OK);
    expect(watch.state(id)).toBe("up");
    expect(watch.told()).toEqual(["monitor.down", "monitor.up"]);
  });

  test("stays up when its job calls while it is found out whether this server has a network", async () => {
    const targets = { ALLCLEAR_REFERENCE_TARGETS: "192.0.2.1:443" };
    const { watch, id } = await openJob({}, targets);
    await using _ = watch;
    await watch.engine.heartbeat(id, OK);
    const asking = Promise.withResolvers<void>();
    watch.reaching = asking.promise;
    await watch.clock.advance(10 * MINUTE_MS + 31 * SECOND_MS);
    expect(watch.engine.figures().underWay).toBe(1);
    await watch.engine.heartbeat(id, OK);
    asking.resolve();
    await watch.clock.advance(10 * MINUTE_MS + 25 * SECOND_MS);
    expect(watch.state(id)).toBe("up");
    expect(watch.checks(id).map(({ outcome }) => outcome)).toEqual(["ok", "ok"]);
    await watch.clock.advance(10 * SECOND_MS);
    expect(watch.state(id)).toBe("down");
  });

  test("is down when its job never called", async () => {
    const { watch, id } = await openJob();
    await using _ = watch;
    await watch.clock.advance(10 * MINUTE_MS + 30 * SECOND_MS);
    expect(watch.state(id)).toBe("down");
  });

  test("is down after as many times without a call as its threshold", async () => {
    const { watch, id } = await openJob({ failure_threshold: 3, retry_interval_seconds: 10 });
    await using _ = watch;
    await watch.engine.heartbeat(id, OK);
    await watch.clock.advance(30 * MINUTE_MS + 29 * SECOND_MS);
    expect(watch.state(id)).toBe("up");
    await watch.clock.advance(2 * SECOND_MS);
    expect(watch.state(id)).toBe("down");
    expect(watch.checks(id).map(({ outcome }) => outcome)).toEqual([
      "ok",
      ...Array(3).fill("failed"),
    ]);
    expect(beginOf(watch.timeline(id).at(-1))).toBeCloseTo(631, 0);
  });

  test("is down when its job says so", async () => {
    const { watch, id } = await openJob();
    await using _ = watch;
    await watch.engine.heartbeat(id, { outcome: "failed", latencyMs: null, message: "disk full" });
    expect(watch.state(id)).toBe("down");
    expect(watch.checks(id)[0]?.message).toBe("disk full");
  });

  test("that is paused or deleted drops what its job says", async () => {
    const { watch, id } = await openJob({ paused: true });
    await using _ = watch;
    await watch.engine.heartbeat(id, OK);
    await watch.engine.heartbeat("mon_00000000000000000000000000", OK);
    expect(watch.checks(id)).toEqual([]);
    expect(watch.state(id)).toBe("paused");
  });

  test("does not blame its job for a call that nobody could take", async () => {
    const { watch, id } = await openJob();
    await using _ = watch;
    await watch.engine.heartbeat(id, OK);
    await watch.clock.advance(9 * MINUTE_MS + 50 * SECOND_MS);
    await watch.stop();
    // The job calls into the void.
    await watch.clock.advance(20 * SECOND_MS);
    await watch.start();
    await watch.clock.advance(9 * MINUTE_MS);
    expect(watch.state(id)).toBe("up");
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.state(id)).toBe("down");
  });

  test("is noticed all the same when the server was started again between its times", async () => {
    const { watch, id } = await openJob({ interval_seconds: 86_400 });
    await using _ = watch;
    await watch.engine.heartbeat(id, OK);
    for (let hours = 0; hours < 24; hours += 4) {
      await watch.clock.advance(4 * HOUR_MS - 2 * MINUTE_MS);
      await watch.stop();
      await watch.clock.advance(MINUTE_MS);
      await watch.start();
    }
    expect(watch.state(id)).toBe("no_data");
    await watch.clock.advance(6 * MINUTE_MS + 40 * SECOND_MS);
    expect(watch.state(id)).toBe("down");
  });
});
