import { describe, expect, test } from "bun:test";
import { deduplicateLog } from "../../src/base/log";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";
import { redactText } from "../../src/base/redaction";

const MINUTE = 60_000;

function createLog() {
  const clock = createTestClock();
  const { log, lines } = createTestLog("info");
  return {
    clock,
    log: deduplicateLog(log, clock, redactText),
    lines,
    said: () => lines.map(({ msg }) => msg),
  };
}

function diskError(message = "disk I/O error"): Error {
  return Object.assign(new Error(message), { code: "SQLITE_IOERR_WRITE" });
}

describe("a repeated error in the log", () => {
  test("a repeated error is logged once with its stack, then counted at most once a minute", async () => {
    const { clock, log, lines, said } = createLog();
    for (let i = 0; i < 1_235; i++) {
      log.error({ err: diskError(), request: `req_${i}`, callbacks: i }, "a request failed");
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 50, msg: "a request failed", request: "req_0" });
    expect(lines[0]).toHaveProperty("err.stack");

    await clock.advance(MINUTE);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      level: 50,
      repeated: 1_234,
      error: "SQLITE_IOERR_WRITE: disk I/O error",
      msg: "a request failed (repeated 1,234 times)",
    });
    for (let i = 0; i < 10; i++) log.error({ err: diskError() }, "a request failed");
    await clock.advance(MINUTE - 1);
    expect(lines).toHaveLength(2);
    await clock.advance(1);
    expect(said().at(-1)).toBe("a request failed (repeated 10 times)");
  });

  test("an error is logged completely again after a minute without it", async () => {
    const { clock, log, said } = createLog();
    log.error({ err: diskError() }, "a request failed");
    await clock.advance(MINUTE);
    log.error({ err: diskError() }, "a request failed");
    expect(said()).toEqual(["a request failed", "a request failed"]);
  });

  test("an error counts as repeated even if the errors that wrap it differ", () => {
    const { log, lines } = createLog();
    for (let i = 0; i < 3; i++) {
      log.error(
        { err: new Error(`Failed query ${i}`, { cause: diskError() }) },
        "a request failed",
      );
    }
    expect(lines).toHaveLength(1);
  });

  test("an error is logged again if level or message differ, or the error's own message or place", () => {
    const { log, said } = createLog();
    const here = diskError();
    const there = diskError();
    there.stack = `Error\n    at elsewhere (/src/a.ts:1:1)`;
    log.error({ err: here }, "a request failed");
    log.error({ err: here }, "changes could not be stored");
    log.error({ err: diskError("database or disk is full") }, "a request failed");
    log.error({ err: there }, "a request failed");
    log.warn({ err: here }, "a request failed");
    expect(said()).toHaveLength(5);
    for (const err of [here, there]) log.error({ err }, "a request failed");
    expect(said()).toHaveLength(5);
  });

  test("counted errors are summarised when the process ends", () => {
    const { log, said } = createLog();
    for (let i = 0; i < 3; i++) log.warn({ err: diskError() }, "it waits");
    log.flush();
    expect(said()).toEqual(["it waits", "it waits (repeated 2 times)"]);
  });

  test("the summary of a repeated error reveals no secret", () => {
    const { log, lines } = createLog();
    const secret = `allclear_${"a".repeat(49)}`;
    for (let i = 0; i < 2; i++) log.error({ err: new Error(`no ${secret}`) }, "it failed");
    log.flush();
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain(secret);
  });
});

test("warnings without an error count as repeated if their texts are equal", () => {
  const { log, lines } = createLog();
  for (const address of ["203.0.113.1", "203.0.113.2", "203.0.113.1"])
    log.warn({ address }, "seen");
  for (let i = 0; i < 3; i++) log.warn("plain");
  expect(lines).toHaveLength(3);
});

test("log lines below a warning are never suppressed", () => {
  const { log, lines } = createLog();
  for (let i = 0; i < 3; i++) log.info({ i }, "listening");
  expect(lines).toHaveLength(3);
});

test("at most 200 different errors are counted at a time, and no count is lost", async () => {
  const { clock, log, lines } = createLog();
  let timers = 0;
  const counting = {
    ...clock,
    after: (ms: number, run: () => void) => {
      const timer = clock.after(ms, () => {
        timers -= 1;
        run();
      });
      timers += 1;
      return {
        cancel: () => {
          timers -= 1;
          timer.cancel();
        },
      };
    },
  };
  const bounded = deduplicateLog(log, counting, redactText);
  for (let i = 0; i < 1_000; i++) {
    for (let twice = 0; twice < 2; twice++)
      bounded.error({ err: new Error(`error ${i}`) }, "failed");
  }
  expect(timers).toBe(200);
  bounded.flush();
  expect(lines.filter(({ repeated }) => repeated === 1)).toHaveLength(1_000);
  await clock.advance(2 * MINUTE);
  expect(timers).toBe(0);
});
