import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { listAllKeys } from "../../../src/features/keys/records";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";

function revoke(app: TestApp, id: string) {
  return app.ctx.db.write((tx) => revokeKey(app.ctx, tx, id, CLI_ACTOR));
}

describe("a revoked key", () => {
  test("a revoked key is rejected at its next request with the time of its revocation", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    await app.clock.advance(1_500);
    await revoke(app, key.id);
    const answer = await app.call("/api/v1/key", { key: value });
    expectProblem(answer, "revoked_key");
    expect(answer.headers.get("www-authenticate")).toBe(
      'Bearer realm="allclear", error="invalid_token", error_description="The API key was revoked at 2026-03-10T12:00:01.500Z."',
    );
  });

  test("revoking a key does not affect other keys", async () => {
    await using app = await createTestApp();
    const [gone, other] = [await app.createKey(), await app.createKey()];
    await revoke(app, gone.key.id);
    expect((await app.call("/api/v1/key", { key: other.value })).status).toBe(200);
  });

  test("a revoked key is rejected with each of its values", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await app.ctx.db.write((tx) => rotateKey(app.ctx, tx, key.id, "7d", CLI_ACTOR));
    await revoke(app, key.id);
    for (const presented of [value, rotated.value]) {
      expectProblem(await app.call("/api/v1/key", { key: presented }), "revoked_key");
    }
  });

  test("a revoked key stays listed with the time of its revocation", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    await revoke(app, key.id);
    expect(listAllKeys(app.ctx.db)).toEqual([
      { ...key, revoked_at: "2026-03-10T12:00:00.000Z", version: 2 },
    ]);
  });

  test("revoking a key again changes nothing", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    const once = await revoke(app, key.id);
    await app.clock.advance(60_000);
    expect(await revoke(app, key.id)).toEqual(once);
    expect(app.audit().map((entry) => entry.action)).toEqual(["key.create", "key.revoke"]);
  });

  test("a revoked and expired key is rejected as revoked", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ expires: "2026-03-10" });
    await revoke(app, key.id);
    await app.clock.advance(86_400_000);
    expectProblem(await app.call("/api/v1/key", { key: value }), "revoked_key");
  });
});

test("revoking an unknown key is not_found, and nothing is written", async () => {
  await using app = await createTestApp();
  expect((await rejectionOf(revoke(app, "key_00000000000000000000000000"))).code).toBe("not_found");
  expect(app.audit()).toEqual([]);
});

test("a key whose revocation could not be stored still works", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey();
  const change = app.ctx.db.write((tx) => {
    revokeKey(app.ctx, tx, key.id, CLI_ACTOR);
    throw new Error("the rest of the change failed");
  });
  expect(change).rejects.toThrow("the rest of the change failed");
  await change.catch(() => {});
  expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
  expect(app.audit()).toHaveLength(1);
});
