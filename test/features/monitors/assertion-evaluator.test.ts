import { describe, expect, test } from "bun:test";
import type { Assertion } from "../../../src/features/monitors/assertions/assertions";
import { AssertionEvaluator } from "../../../src/features/monitors/assertions/evaluator";
import { checkAssertions } from "../../../src/features/monitors/assertions/check";
import { holds } from "../../../src/features/monitors/assertions/evaluate";
import { createFakeThreads } from "../../support/assertion-threads";
import { createTestClock } from "../../support/clock";
import { patience } from "../../support/egress";

const LONG_TEXT = `${Array.from(crypto.getRandomValues(new Uint8Array(65_535)), (byte) =>
  byte % 2 === 0 ? "a" : "b",
).join("")}c`;

/** All of them match at the end of `LONG_TEXT`, each after some hundred milliseconds. */
const EXPENSIVE = Array.from({ length: 30 }, (_, n) =>
  matches(`(?:a[ab]{${15 + n}}|b[ab]{${15 + n}})[^ab]`),
);

function matches(value: string): Assertion {
  return { source: "body", op: "matches", value };
}

function subject(text: string) {
  const bytes = new TextEncoder().encode(text);
  return {
    status: 200,
    headers: new Map<string, string>(),
    latencyMs: 1,
    certificateDays: null,
    body: { bytes, isTruncated: false },
  };
}

function job(assertions: readonly Assertion[], text: string, signal = patience()) {
  return { assertions, subject: subject(text), signal, owner: assertions };
}

describe("an evaluation of assertions in the worker thread", () => {
  test("an evaluation cut off by its check's deadline fails the check with that reason", async () => {
    const { threads, start } = createFakeThreads();
    const clock = createTestClock();
    const evaluator = new AssertionEvaluator(clock, start);
    const deadline = new AbortController();
    const cutOff = evaluator.evaluate(job([matches("a")], "a", deadline.signal));
    const other = evaluator.evaluate(job([matches("b")], "b"));
    threads[0]?.answer("ready");
    await clock.advance(1_000);
    deadline.abort();
    expect(await cutOff).toMatchObject({
      outcome: "failed",
      message: "Evaluating the assertions took longer than the check's timeout allows.",
    });
    expect(threads[0]?.isEnded).toBe(true);
    threads[1]?.answer("ready");
    threads[1]?.answer({ failure: null, tookMs: 1 });
    expect(await other).toEqual({ outcome: "ok" });
  });

  test("an evaluation is cut off during a regular expression, and the next one runs", async () => {
    const evaluator = new AssertionEvaluator(createTestClock());
    const deadline = new AbortController();
    const expensive = evaluator.evaluate(job(EXPENSIVE, LONG_TEXT, deadline.signal));
    expect(await evaluator.evaluate(job([matches("^cheap$")], "cheap"))).toEqual({ outcome: "ok" });
    deadline.abort();
    expect(await expensive).toMatchObject({ message: expect.stringContaining("took longer") });
    expect(await evaluator.evaluate(job([matches("^cheap$")], "dear"))).toMatchObject({
      outcome: "failed",
      message: "The body should match /^cheap$/.",
    });
    evaluator.stop();
  });

  test("an evaluation runs before those of monitors that used the thread longer", async () => {
    const { threads, start } = createFakeThreads();
    const evaluator = new AssertionEvaluator(createTestClock(), start);
    const expensive = [matches("a"), matches("b"), matches("c")];
    const cheap = [matches("d")];
    const done: string[] = [];
    const both = [
      evaluator.evaluate(job(expensive, "abc")).then(() => done.push("expensive")),
      evaluator.evaluate(job(cheap, "d")).then(() => done.push("cheap")),
    ];
    const [thread] = threads;
    thread?.answer("ready");
    thread?.answer({ held: 1, tookMs: 200 });
    thread?.answer({ failure: null, tookMs: 1 });
    thread?.answer({ held: 1, tookMs: 200 });
    thread?.answer({ failure: null, tookMs: 200 });
    await Promise.all(both);
    expect(done).toEqual(["cheap", "expensive"]);
    // At the next check it is known from the one before.
    void evaluator.evaluate(job(expensive, "abc"));
    void evaluator.evaluate(job(expensive, "abc"));
    void evaluator.evaluate(job(cheap, "d"));
    thread?.answer({ failure: null, tookMs: 200 });
    expect(thread?.slices.slice(4).map(({ assertions }) => assertions.length)).toEqual([3, 1]);
  });

  test("an evaluation that only waited until its deadline has an unknown outcome", async () => {
    const { threads, start } = createFakeThreads();
    const evaluator = new AssertionEvaluator(createTestClock(), start);
    const deadline = new AbortController();
    void evaluator.evaluate(job([matches("a")], "a"));
    threads[0]?.answer("ready");
    const waiting = evaluator.evaluate(job([matches("b")], "b", deadline.signal));
    deadline.abort();
    expect(await waiting).toMatchObject({ outcome: "unknown" });
    expect(threads[0]?.isEnded).toBe(false);
  });

  test("an evaluation whose deadline passed before it began has an unknown outcome", async () => {
    const { threads, start } = createFakeThreads();
    const evaluator = new AssertionEvaluator(createTestClock(), start);
    const passed = AbortSignal.abort();
    expect(await evaluator.evaluate(job([matches("a")], "a", passed))).toEqual({
      outcome: "unknown",
      message: "This server was too busy to evaluate the assertions.",
    });
    expect(threads).toHaveLength(0);
  });

  test.each([
    ["while another check runs", false],
    ["in the last slice", true],
  ])(
    "an evaluation that mostly waited for others is unknown at its deadline, %s",
    async (_, isRunning) => {
      const { threads, start } = createFakeThreads();
      const clock = createTestClock();
      const evaluator = new AssertionEvaluator(clock, start);
      const deadline = new AbortController();
      const evaluation = evaluator.evaluate(
        job([matches("a"), matches("b")], "ab", deadline.signal),
      );
      threads[0]?.answer("ready");
      await clock.advance(200);
      void evaluator.evaluate(job([matches("c")], "c"));
      threads[0]?.answer({ held: 1, tookMs: 200 });
      await clock.advance(700);
      if (isRunning) {
        threads[0]?.answer({ failure: null, tookMs: 700 });
        await clock.advance(100);
      }
      expect(threads[0]?.slices).toHaveLength(isRunning ? 3 : 2);
      deadline.abort();
      expect(await evaluation).toMatchObject({ outcome: "unknown" });
      expect(threads[0]?.isEnded).toBe(isRunning);
    },
  );

  test("an evaluation that mostly used the thread fails although another check runs", async () => {
    const { threads, start } = createFakeThreads();
    const clock = createTestClock();
    const evaluator = new AssertionEvaluator(clock, start);
    const deadline = new AbortController();
    const evaluation = evaluator.evaluate(job([matches("a"), matches("b")], "ab", deadline.signal));
    threads[0]?.answer("ready");
    await clock.advance(900);
    void evaluator.evaluate(job([matches("c")], "c"));
    threads[0]?.answer({ held: 1, tookMs: 900 });
    await clock.advance(100);
    deadline.abort();
    expect(await evaluation).toMatchObject({ outcome: "failed" });
    expect(threads[0]?.isEnded).toBe(false);
  });

  test("an evaluation whose thread fails has an unknown outcome, and the next one starts another thread", async () => {
    const { threads, start } = createFakeThreads();
    const evaluator = new AssertionEvaluator(createTestClock(), start);
    const first = evaluator.evaluate(job([matches("a")], "a"));
    threads[0]?.fail();
    expect(await first).toMatchObject({ outcome: "unknown" });
    const second = evaluator.evaluate(job([matches("a")], "a"));
    threads[1]?.answer("ready");
    threads[1]?.answer({ failure: null, tookMs: 1 });
    expect(await second).toEqual({ outcome: "ok" });
  });

  test("the evaluation thread ends after 90 seconds without an evaluation", async () => {
    const { threads, start } = createFakeThreads();
    const clock = createTestClock();
    const evaluator = new AssertionEvaluator(clock, start);
    const evaluation = evaluator.evaluate(job([matches("a")], "a"));
    threads[0]?.answer("ready");
    threads[0]?.answer({ failure: null, tookMs: 1 });
    await evaluation;
    await clock.advance(89_000);
    expect(threads[0]?.isEnded).toBe(false);
    await clock.advance(1_000);
    expect(threads[0]?.isEnded).toBe(true);
  });
});

describe("assertions of a check", () => {
  const check = async (assertion: Assertion, text: string, headers: [string, string][] = []) => {
    const { threads, start } = createFakeThreads();
    const deadline = new AbortController();
    const evaluator = new AssertionEvaluator(createTestClock(), start);
    const { body, ...rest } = subject(text);
    const response = { ...rest, headers: new Map(headers), body: async () => body };
    const checked = checkAssertions([assertion], response, {
      evaluator,
      signal: deadline.signal,
    });
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    deadline.abort();
    await checked;
    return threads.length === 0 ? "inline" : "thread";
  };

  test.each<[Assertion, string]>([
    [{ source: "body", op: "contains", value: "ok" }, "x".repeat(262_144)],
    [{ source: "json", property: "$.a", op: "eq", value: 1 }, JSON.stringify({ a: 1 })],
    [{ source: "status", op: "eq", value: 200 }, ""],
  ])("a check evaluates a cheap assertion without the thread: %j", async (assertion, text) => {
    expect(await check(assertion, text)).toBe("inline");
  });

  test.each<[Assertion, string]>([
    [matches("ok"), "ok"],
    [{ source: "body", op: "contains", value: "b".repeat(1_000) }, "b".repeat(262_144)],
    [{ source: "json", property: "$.a", op: "eq", value: 1 }, "[".repeat(262_144)],
  ])("a check evaluates an expensive assertion in the thread: %j", async (assertion, text) => {
    expect(await check(assertion, text)).toBe("thread");
  });

  test("inline evaluations of checks that end in one turn share one time allowance", async () => {
    const { threads, start } = createFakeThreads();
    const deadline = new AbortController();
    const evaluator = new AssertionEvaluator(createTestClock(), start);
    // Costs about 4 ms at worst, less than the 5 ms that a single check may take inline.
    const { body, ...rest } = subject(JSON.stringify("x".repeat(32_000)));
    const assertions: Assertion[] = [
      { source: "json", property: "$.a", op: "exists", value: false },
    ];
    const outcomes: string[] = [];
    const checkTen = () =>
      Array.from({ length: 10 }, () =>
        checkAssertions(
          assertions,
          { ...rest, body: async () => body },
          { evaluator, signal: deadline.signal },
        ),
      ).map((checked) => checked.then(({ outcome }) => outcomes.push(outcome)));
    const first = checkTen();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect(outcomes).toEqual(["ok", "ok"]);
    expect(threads).toHaveLength(1);
    await new Promise((resolve) => setImmediate(resolve));
    const second = checkTen();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect(outcomes).toEqual(["ok", "ok", "ok", "ok"]);
    deadline.abort();
    await Promise.all([...first, ...second]);
    expect(outcomes).toHaveLength(20);
  });

  test("a check searches a long header in the thread", async () => {
    const assertion: Assertion = {
      source: "header",
      property: "x-a",
      op: "contains",
      value: "b".repeat(1_000),
    };
    expect(await check(assertion, "", [["x-a", "b".repeat(16_000)]])).toBe("thread");
  });

  test("comparing a text of many digits with a number takes linear time", () => {
    // In time in proportion to its square it would take minutes.
    expect(holds(`${"1".repeat(250_000)}x`, "lt", 5)).toBe(false);
    expect(holds("1".repeat(20), "gt", 5)).toBe(true);
    expect(holds(" +1.5e3 ", "eq", 1_500)).toBe(true);
    expect(holds("1.", "eq", 1)).toBe(true);
    expect(holds(".5", "eq", 0.5)).toBe(true);
    expect(holds(".", "eq", 0)).toBe(false);
  });
});
