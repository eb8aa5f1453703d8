import { describe, expect, test } from "bun:test";
import { StepRecorder } from "../../src/egress/steps";
import { createTestClock } from "../support/clock";
import { createTestEgress } from "../support/egress";

describe("a step recorder", () => {
  test("a step lasts until the next one begins, and is dated in tenths of a millisecond", async () => {
    const clock = createTestClock();
    const recorder = new StepRecorder(clock);
    recorder.begin("look_up", "shop.test");
    await clock.advance(12.34);
    recorder.begin("connect");
    await clock.advance(5);
    recorder.end("203.0.113.5:443");
    await clock.advance(100);
    recorder.finish({ outcome: "ok", message: null });
    expect(recorder.steps).toEqual([
      { name: "look_up", durationMs: 12.3, isOk: true, detail: "shop.test" },
      { name: "connect", durationMs: 5, isOk: true, detail: "203.0.113.5:443" },
    ]);
  });

  test("a failed check fails the current step with its message", async () => {
    const clock = createTestClock();
    const recorder = new StepRecorder(clock);
    recorder.begin("query");
    await clock.advance(20);
    recorder.finish({ outcome: "failed", message: "Timed out." });
    expect(recorder.steps).toEqual([
      { name: "query", durationMs: 20, isOk: false, detail: "Timed out." },
    ]);
  });

  test("a failed check without a failed step failed when its results were evaluated", () => {
    const recorder = new StepRecorder(createTestClock());
    recorder.add("request", true, "HTTP status 503");
    recorder.finish({ outcome: "failed", message: "The status is 503." });
    expect(recorder.steps.at(-1)).toMatchObject({ name: "evaluation", isOk: false });
    const empty = new StepRecorder(createTestClock());
    empty.finish({ outcome: "unknown", message: "No descriptor." });
    expect(empty.steps).toMatchObject([{ name: "evaluation", detail: "No descriptor." }]);
  });

  test("a step that failed is not marked a second time", () => {
    const recorder = new StepRecorder(createTestClock());
    recorder.begin("connect");
    recorder.fail("The connection was refused.");
    recorder.fail("Again.");
    recorder.finish({ outcome: "failed", message: "After a redirect: refused." });
    expect(recorder.steps.map(({ detail }) => detail)).toEqual(["The connection was refused."]);
  });

  test("nothing is recorded after the end of the check", () => {
    const recorder = new StepRecorder(createTestClock());
    recorder.begin("connect");
    recorder.finish({ outcome: "failed", message: "Timed out." });
    recorder.begin("tls");
    recorder.add("query", true, "late");
    recorder.end();
    expect(recorder.steps).toHaveLength(1);
  });

  test("at most 200 steps are kept, and details are one line of at most 300 characters", () => {
    const recorder = new StepRecorder(createTestClock());
    for (let count = 0; count < 250; count += 1) {
      recorder.add("request", true, `a\u202eb\r\n${"x".repeat(400)}`);
    }
    expect(recorder.steps).toHaveLength(200);
    const [{ detail } = { detail: null }] = recorder.steps;
    expect(detail).toStartWith("a b  xx");
    expect(detail).toHaveLength(300);
  });
});

test("each address that refuses a connection is a failed step, before the one that accepts", async () => {
  const { egress, clock } = await createTestEgress({ "two.test": [["127.0.0.2", "127.0.0.1"]] });
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const steps = new StepRecorder(clock);
  const { port } = server;
  const signal = AbortSignal.timeout(240_000);
  await egress.connect({ host: "two.test", port, policy: "monitor", signal, steps });
  server.stop(true);
  expect(steps.steps.map(({ isOk, detail }) => [isOk, detail])).toEqual([
    [true, "two.test: 127.0.0.2, 127.0.0.1"],
    [false, `127.0.0.2:${port}: The connection was refused.`],
    [true, `127.0.0.1:${port}`],
  ]);
});
