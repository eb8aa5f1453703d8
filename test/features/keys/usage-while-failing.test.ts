import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { getKey } from "../../../src/features/keys/records";
import { listKeyHoursSince } from "../../../src/features/keys/store";
import { createTestApp } from "../../support/app";
import { anotherProcess } from "../../support/second-connection";
import { temporaryFolder } from "../../support/temporary-folder";

describe("the use of keys while the database fails", () => {
  test("the use of keys is kept and shown while the database fails, and written later", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using app = await createTestApp({ databasePath });
    await using other = anotherProcess(app, databasePath);
    const { key, value } = await app.createKey();
    const call = () => app.call("/api/v1/key", { key: value });

    other.sqlite.run("BEGIN IMMEDIATE");
    await call();
    await app.clock.advance(6_000);
    // The batch is on its way and waits for the other process.
    expect((await call()).body.last_used_at).toBe("2026-03-10T12:00:00.000Z");
    await app.clock.advance(6_000);
    const rejections = app.logged.filter((line) =>
      line.msg.startsWith("the use of keys could not"),
    );
    expect(rejections).toHaveLength(1);
    expect((await call()).body.last_used_at).toBe("2026-03-10T12:00:06.000Z");
    expect(listKeyHoursSince(app.ctx.db, { keyId: key.id, since: 0 })).toEqual([]);
    other.sqlite.run("ROLLBACK");

    await app.clock.advance(10_000);
    expect(getKey(app.ctx.db, key.id).last_used_at).toBe("2026-03-10T12:00:12.000Z");
    expect(listKeyHoursSince(app.ctx.db, { keyId: key.id, since: 0 })).toMatchObject([{ ok: 3 }]);
  });

  test("the use of a deleted key does not block that of others", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using app = await createTestApp({ databasePath });
    await using other = anotherProcess(app, databasePath);
    const [gone, there] = [await app.createKey(), await app.createKey()];
    for (const { value } of [gone, there]) await app.call("/api/v1/key", { key: value });
    other.sqlite.prepare("DELETE FROM api_keys WHERE id = ?").run(gone.key.id);
    await app.clock.advance(5_000);
    expect(listKeyHoursSince(app.ctx.db, { keyId: gone.key.id, since: 0 })).toEqual([]);
    expect(listKeyHoursSince(app.ctx.db, { keyId: there.key.id, since: 0 })).toMatchObject([
      { ok: 1 },
    ]);
    expect(getKey(app.ctx.db, there.key.id).last_used_at).toBe("2026-03-10T12:00:00.000Z");
  });
});
