import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CLI_ACTOR } from "../../../src/base/actor";
import { revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { getKey } from "../../../src/features/keys/records";
import { hashKeyValue } from "../../../src/features/keys/rules";
import { createTestApp, expectProblem } from "../../support/app";
import { bytesIn, temporaryFolder } from "../../support/temporary-folder";
import { updateKey } from "../../support/examined";

test("the database files contain the hash of every key value and never the value", async () => {
  using folder = temporaryFolder();
  const values: string[] = [];
  const secretsIn = (bytes: Buffer) =>
    values.filter((value) => bytes.includes(value) || bytes.includes(value.slice(13)));
  const hashesIn = (bytes: Buffer) => values.filter((value) => bytes.includes(hashKeyValue(value)));
  {
    await using app = await createTestApp({
      databasePath: join(folder.path, "allclear.db"),
      logLevel: "trace",
    });
    const created = await app.createKey();
    const rotated = await app.ctx.db.write((tx) =>
      rotateKey(app.ctx, tx, created.key.id, "24h", CLI_ACTOR),
    );
    values.push(created.value, rotated.value);
    for (const key of values) expect((await app.call("/api/v1/key", { key })).status).toBe(200);
    // A rejected value must be neither in the answer nor in the log.
    const rejections = [
      await app.call(`/api/v1/key?key=${created.value}`),
      await app.call(`/api/v1/components/${created.value}`),
      await app.call("/api/v1/key", { key: `${created.value}x` }),
    ];
    expectProblem(rejections[0]!, "invalid_request");
    for (const { text } of rejections) expect(secretsIn(Buffer.from(text))).toEqual([]);
    await app.clock.advance(5_000);

    const inUse = bytesIn(folder.path);
    expect(hashesIn(inUse)).toEqual(values);
    expect(secretsIn(inUse)).toEqual([]);
    expect(secretsIn(Buffer.from(JSON.stringify(app.logged)))).toEqual([]);
    expect(secretsIn(Buffer.from(JSON.stringify(app.audit())))).toEqual([]);
    expect(secretsIn(Buffer.from(JSON.stringify(getKey(app.ctx.db, created.key.id))))).toEqual([]);
  }
  const closed = bytesIn(folder.path);
  expect(hashesIn(closed)).toEqual(values);
  expect(secretsIn(closed)).toEqual([]);
});

describe("key values in wrong places", () => {
  test("a key value used as an id is not repeated in the error", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey();
    const revoking = app.ctx.db.write((tx) => revokeKey(app.ctx, tx, value, CLI_ACTOR));
    const message = await revoking.catch((error: Error) => error.message);
    expect(message).toContain("Use the id of the key");
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
