import { describe, expect, test } from "bun:test";
import { revokeKey, updateKey } from "../../../src/features/keys";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { createTestApp } from "../../support/app";

describe("key values in wrong places", () => {
  test("a key value used as an id is not repeated in the error", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey();
    const revoking = app.ctx.db.write((tx) => revokeKey(app.ctx, tx, value, CLI_ACTOR));
    const message = await revoking.catch((error: Error) => error.message);
    expect(message).toContain("Keys are named by their id");
    expect(message).not.toContain(value);
  });

  test("a key value used as a name is rejected, and nothing is written", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ name: "before" });
    const audited = app.audit();
    expect(app.createKey({ name: `my ${value}` })).rejects.toMatchObject({
      fields: [{ pointer: "#/name", detail: "contains an API key; type a name instead" }],
    });
    const renaming = app.ctx.db.write((tx) =>
      updateKey(app.ctx, tx, key.id, { name: value }, CLI_ACTOR),
    );
    expect(renaming).rejects.toMatchObject({ code: "validation_failed" });
    await renaming.catch(() => {});
    expect(app.audit()).toEqual(audited);
  });
});
