import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getKey, rotateKey } from "../../../src/features/keys";
import { hashKeyValue } from "../../../src/features/keys/value";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { createTestApp, expectProblem } from "../../support/app";
import { temporaryFolder } from "../../support/temporary-folder";

/** Every byte of a folder's files. */
function bytesIn(folder: string): Buffer {
  return Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
}

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
    // Where a value is refused it must not be kept either: not in the answer, not in the log.
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
