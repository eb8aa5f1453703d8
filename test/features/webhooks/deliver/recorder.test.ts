import { describe, expect, test } from "bun:test";
import { unavailable } from "../../../../src/base/errors";
import type { TryResult } from "../../../../src/features/webhooks/deliver/message";
import { createRecorder } from "../../../../src/features/webhooks/deliver/deliverer";
import { SECOND_MS } from "../../../../src/base/time";
import { createTestApp } from "../../../support/app";

const RESULT: TryResult = {
  at: 0,
  latencyMs: 1,
  statusCode: 200,
  error: null,
  answer: null,
};

/** Creates a recorder whose database answers each write as the test decides. */
async function recorderOnTestDatabase() {
  const app = await createTestApp();
  const writes: PromiseWithResolvers<undefined>[] = [];
  const db = {
    ...app.ctx.db,
    write: () => {
      const answer = Promise.withResolvers<undefined>();
      writes.push(answer);
      return answer.promise;
    },
  } as typeof app.ctx.db;
  return { app, writes, recorder: createRecorder({ ...app.ctx, db }, () => 0) };
}

const full = () => unavailable("The disk is full.", 5);

describe("a recorder after a failed write", () => {
  test("a recorder writes results that arrived during its retry", async () => {
    const { app, writes, recorder } = await recorderOnTestDatabase();
    await using site = app;
    const { clock } = site;
    void recorder.add({ deliveryId: "dlv_1", result: RESULT });
    await clock.advance(SECOND_MS);
    writes[0]?.reject(full());
    await clock.advance(0);
    expect(recorder.isStuck).toBe(true);
    await clock.advance(SECOND_MS);
    expect(writes).toHaveLength(2);
    const late = recorder.add({ deliveryId: "dlv_2", result: RESULT });
    writes[1]?.resolve(undefined);
    await clock.advance(0);
    await clock.advance(SECOND_MS);
    expect(recorder.isStuck).toBe(false);
    expect(writes).toHaveLength(3);
    writes[2]?.resolve(undefined);
    expect(await late).toBeUndefined();
    await clock.advance(0);
    expect(recorder.unwritten).toBe(0);
  });

  test("a recorder is no longer stuck after dropping results that cannot be written", async () => {
    const { app, writes, recorder } = await recorderOnTestDatabase();
    await using site = app;
    const { clock } = site;
    void recorder.add({ deliveryId: "dlv_1", result: RESULT });
    await clock.advance(SECOND_MS);
    writes[0]?.reject(full());
    await clock.advance(0);
    await clock.advance(SECOND_MS);
    expect(recorder.isStuck).toBe(true);
    writes[1]?.reject(new Error("a row that no table takes"));
    await clock.advance(0);
    expect(recorder.isStuck).toBe(false);
    expect(recorder.unwritten).toBe(0);
  });
});
