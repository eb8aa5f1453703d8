import { describe, expect, test } from "bun:test";
import { type Answer, answerOnce, sweepAnswers } from "../../../src/features/repeats/store";
import { startHousekeeping } from "../../../src/background";
import { sha256 } from "../../../src/base/hash";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";

const ANSWER: Answer = { status: 201, location: "/made/1", body: '{"id":"1"}' };

/** Sends one request, named by its Idempotency-Key, whose answer would be `answer`. */
function send(
  { ctx }: TestApp,
  sent: { name?: string; body?: string; answer?: Answer | (() => Answer) } = {},
) {
  const { name = "a", body = "body", answer = ANSWER } = sent;
  const request = {
    keyId: "key_1",
    path: "/p",
    idempotencyHash: sha256(name),
    bodyHash: sha256(body),
  };
  return ctx.db.write((tx) =>
    answerOnce(ctx, tx, request, () => (typeof answer === "function" ? answer() : answer)),
  );
}

const never = (): Answer => {
  throw new Error("it was made again");
};

describe("answering once", () => {
  test("answerOnce creates an answer the first time and replays it afterwards", async () => {
    await using app = await createTestApp();
    expect(await send(app)).toEqual({ ...ANSWER, isReplayed: false });
    expect(await send(app, { answer: never })).toEqual({ ...ANSWER, isReplayed: true });
  });

  test("answerOnce stores the body without its secrets", async () => {
    await using app = await createTestApp();
    const answer = { ...ANSWER, body: '{"secret":"s"}', keptBody: '{"secret":null}' };
    const { keptBody, ...first } = answer;
    expect(await send(app, { answer })).toEqual({ ...first, isReplayed: false });
    expect(await send(app, { answer: never })).toEqual({
      ...first,
      body: keptBody,
      isReplayed: true,
    });
  });

  test("answerOnce rejects another body as idempotency_mismatch without creating anything", async () => {
    await using app = await createTestApp();
    await send(app);
    const { code } = await rejectionOf(send(app, { body: "other", answer: never }));
    expect(code).toBe("idempotency_mismatch");
  });

  test("answerOnce stores nothing if the request or its transaction fails", async () => {
    await using app = await createTestApp();
    const { ctx } = app;
    const failed = send(app, { answer: never });
    expect(await failed.catch((error: Error) => error.message)).toBe("it was made again");
    const request = {
      keyId: "key_1",
      path: "/p",
      idempotencyHash: sha256("a"),
      bodyHash: sha256("body"),
    };
    const undone = ctx.db.write((tx) => {
      answerOnce(ctx, tx, request, () => ANSWER);
      throw new Error("undone");
    });
    expect(await undone.catch((error: Error) => error.message)).toBe("undone");
    expect((await send(app)).isReplayed).toBe(false);
  });

  test("answerOnce still replays an answer after the wall clock is set back", async () => {
    await using app = await createTestApp();
    await send(app);
    app.clock.setWallClock(app.clock.now() - HOUR_MS);
    expect((await send(app, { answer: never })).isReplayed).toBe(true);
  });
});

describe("sweeping", () => {
  test("sweepAnswers deletes answers after a day, 500 per call, and returns true if there may be more", async () => {
    await using app = await createTestApp();
    const { ctx, clock } = app;
    const sweep = () => ctx.db.write((tx) => sweepAnswers(tx, clock.now()));
    const old = Array.from({ length: 1_200 }, (_, index) => `old ${index}`);
    await Promise.all(old.map((name) => send(app, { name })));
    await clock.advance(1);
    await send(app, { name: "young" });
    await clock.advance(DAY_MS - 2);
    expect(await sweep()).toBe(false);
    expect((await send(app, { name: "old 1199", answer: never })).isReplayed).toBe(true);
    await clock.advance(1);
    expect([await sweep(), await sweep(), await sweep()]).toEqual([true, true, false]);
    expect((await send(app, { name: "young", answer: never })).isReplayed).toBe(true);
    // Set back, the clock would bring back to life what is still there.
    clock.setWallClock(clock.now() - HOUR_MS);
    for (const name of ["old 0", "old 700", "old 1199"]) {
      expect((await send(app, { name })).isReplayed).toBe(false);
    }
  });

  test("housekeeping deletes all expired answers", async () => {
    await using app = await createTestApp();
    const keeping = startHousekeeping(app.ctx);
    const names = Array.from({ length: 1_200 }, (_, index) => `old ${index}`);
    await Promise.all(names.map((name) => send(app, { name })));
    await app.clock.advance(DAY_MS + HOUR_MS);
    keeping.cancel();
    app.clock.setWallClock(app.clock.now() - 2 * HOUR_MS);
    const answers = await Promise.all(names.map((name) => send(app, { name })));
    expect(answers.filter(({ isReplayed }) => isReplayed)).toEqual([]);
  });
});
