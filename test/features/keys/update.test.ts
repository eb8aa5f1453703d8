import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { getKey } from "../../../src/features/keys/records";
import type { UpdateKeyBody } from "../../../src/features/keys/wire";
import { createTestApp, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";
import { updateKey } from "../../support/examined";

function update(app: TestApp, id: string, input: unknown) {
  return app.ctx.db.write((tx) => updateKey(app.ctx, tx, id, input as UpdateKeyBody, CLI_ACTOR));
}

describe("editing a key", () => {
  test("editing a key changes name and limit, raises its version and writes an audit entry", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ name: "old", rate_limit: 10 });
    const after = await update(app, key.id, { name: "new", rate_limit: 20 });
    expect(after).toEqual({ ...key, name: "new", rate_limit: 20, version: 2 });
    expect(getKey(app.ctx.db, key.id)).toEqual(after);
    expect(app.audit().map((entry) => entry.action)).toEqual(["key.create", "key.update"]);
    expect(app.audit()[1]?.summary).toContain("“new”");
    expect(app.audit()[1]?.summary).toContain("20 a minute");
    const own = await app.call("/api/v1/key", { key: value });
    expect(own.body).toMatchObject({ name: "new", rate_limit: 20 });
  });

  test("editing a key keeps fields that are not given", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey({ name: "old", rate_limit: 10 });
    expect(await update(app, key.id, { name: "new" })).toMatchObject({ rate_limit: 10 });
    expect(await update(app, key.id, { rate_limit: 5 })).toMatchObject({ name: "new" });
  });

  test("editing a key to its current values writes nothing", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey({ name: "same", rate_limit: 10 });
    expect(await update(app, key.id, { name: "same", rate_limit: 10 })).toEqual(key);
    expect(app.audit()).toHaveLength(1);
  });

  test.each([
    ["nothing to change", {}, "#"],
    ["its scopes", { scopes: ["write:incidents"] }, "#/scopes"],
    ["its expiration", { expires: "2027-01-31" }, "#/expires"],
    ["a limit of 0", { rate_limit: 0 }, "#/rate_limit"],
    ["a limit of 1.5", { rate_limit: 1.5 }, "#/rate_limit"],
    ["a limit of 1,000,001", { rate_limit: 1_000_001 }, "#/rate_limit"],
    ["an empty name", { name: "" }, "#/name"],
    ["no name any more", { name: null }, "#/name"],
    ["a name of 300 characters", { name: "x".repeat(300) }, "#/name"],
    ["a name with a control character", { name: "a\tb" }, "#/name"],
    ["a name with an override", { name: "a\u202eb" }, "#/name"],
  ])("editing a key with %s is rejected, and nothing is changed", async (_what, input, pointer) => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    const rejection = await rejectionOf(update(app, key.id, input));
    expect(rejection.code).toBe("validation_failed");
    expect(rejection.fields.map((field) => field.pointer)).toEqual([pointer]);
    expect(getKey(app.ctx.db, key.id)).toEqual(key);
    expect(app.audit()).toHaveLength(1);
  });

  test("editing a key with several invalid fields lists all of them", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    const rejection = await rejectionOf(
      update(app, key.id, { name: "", rate_limit: 0, scopes: [] }),
    );
    expect(rejection.fields.map((field) => field.pointer).sort()).toEqual([
      "#/name",
      "#/rate_limit",
      "#/scopes",
    ]);
  });

  test("editing an unknown key is not_found", async () => {
    await using app = await createTestApp();
    const rejection = await rejectionOf(
      update(app, "key_00000000000000000000000000", { name: "x" }),
    );
    expect(rejection.code).toBe("not_found");
    expect(app.audit()).toEqual([]);
  });
});
