import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { endOldValues, revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { getKey } from "../../../src/features/keys/records";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";

function end(app: TestApp, id: string) {
  return app.ctx.db.write((tx) => endOldValues(app.ctx, tx, id, CLI_ACTOR));
}

function rotate(app: TestApp, id: string) {
  return app.ctx.db.write((tx) => rotateKey(app.ctx, tx, id, "24h", CLI_ACTOR));
}

describe("ending the old value of a rotated key", () => {
  test("ending old values rejects all of them and keeps the newest", async () => {
    await using app = await createTestApp();
    const { key, value: first } = await app.createKey({ name: "CI" });
    const { value: second } = await rotate(app, key.id);
    const { value: newest } = await rotate(app, key.id);
    for (const value of [first, second, newest]) {
      expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    }
    const ended = await end(app, key.id);
    expect(ended.version).toBe(4);
    expect(ended.values.map((value) => value.ends_at)).toEqual([
      null,
      "2026-03-10T12:00:00.000Z",
      "2026-03-10T12:00:00.000Z",
    ]);
    for (const value of [first, second]) {
      expectProblem(await app.call("/api/v1/key", { key: value }), "expired_key");
    }
    expect((await app.call("/api/v1/key", { key: newest })).status).toBe(200);
    expect(app.audit().at(-1)).toMatchObject({
      action: "key.end_old_value",
      targetId: key.id,
      summary: "Ended the old value of the key “CI”",
    });
  });

  test("ending old values does not affect other keys", async () => {
    await using app = await createTestApp();
    const [mine, other] = [await app.createKey(), await app.createKey()];
    for (const { key } of [mine, other]) await rotate(app, key.id);
    await end(app, mine.key.id);
    expectProblem(await app.call("/api/v1/key", { key: mine.value }), "expired_key");
    expect((await app.call("/api/v1/key", { key: other.value })).status).toBe(200);
  });

  test("ending old values changes nothing if there are none", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    expect(await end(app, key.id)).toEqual(key);
    await rotate(app, key.id);
    const once = await end(app, key.id);
    await app.clock.advance(60_000);
    expect(await end(app, key.id)).toEqual(once);
    expect(app.audit().map((entry) => entry.action)).toEqual([
      "key.create",
      "key.rotate",
      "key.end_old_value",
    ]);
  });

  test("ending old values of a revoked key changes nothing", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    await rotate(app, key.id);
    const revoked = await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
    expect(await end(app, key.id)).toEqual(revoked);
    expect(getKey(app.ctx.db, key.id)).toEqual(revoked);
    expect(app.audit()).toHaveLength(3);
  });

  test("ending old values of an unknown key is not_found", async () => {
    await using app = await createTestApp();
    const rejection = await rejectionOf(end(app, "key_00000000000000000000000000"));
    expect(rejection.code).toBe("not_found");
    expect(app.audit()).toEqual([]);
  });
});
