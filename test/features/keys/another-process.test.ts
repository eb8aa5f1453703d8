import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { CLI_ACTOR } from "../../../src/base/actor";
import { anotherProcess } from "../../support/second-connection";
import { createTestApp, expectProblem } from "../../support/app";
import { temporaryFolder } from "../../support/temporary-folder";
import { createKey, updateKey } from "../../support/examined";

/** Creates an app on a database file and a second connection to that file. */
async function serverAndCommand() {
  const folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  const app = await createTestApp({ databasePath });
  const command = anotherProcess(app, databasePath);
  return {
    app,
    command: command.ctx,
    /** Sends the signal that the server emits after another process's commit. */
    notice: () => app.ctx.signals.databaseChangedElsewhere.emit(),
    async [Symbol.asyncDispose]() {
      await command[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe("before the server notices another process's commit", () => {
  test("a key that another process has just created works at once, and an unknown value is rejected", async () => {
    await using both = await serverAndCommand();
    const { app, command } = both;
    const own = await app.createKey();
    expect((await app.call("/api/v1/key", { key: own.value })).status).toBe(200);
    const made = await command.db.write((tx) =>
      createKey(command, tx, { name: "made elsewhere", scopes: ["read:status"] }, CLI_ACTOR),
    );
    expect((await app.call("/api/v1/key", { key: made.value })).status).toBe(200);
    expect((await app.call("/api/v1/key", { key: own.value })).status).toBe(200);
    const stranger = await createTestApp();
    const { value } = await stranger.createKey();
    await stranger[Symbol.asyncDispose]();
    expectProblem(await app.call("/api/v1/key", { key: value }), "invalid_key");
  });
});

describe("key changes by another process", () => {
  test("a key created by another process works", async () => {
    await using both = await serverAndCommand();
    const { app, command, notice } = both;
    const { value } = await command.db.write((tx) =>
      createKey(command, tx, { name: "made elsewhere", scopes: ["read:status"] }, CLI_ACTOR),
    );
    notice();
    const own = await app.call("/api/v1/key", { key: value });
    expect(own.body).toMatchObject({ name: "made elsewhere", scopes: ["read:status"] });
  });

  test("a key revoked by another process is rejected", async () => {
    await using both = await serverAndCommand();
    const { app, command, notice } = both;
    const { key, value } = await app.createKey();
    await command.db.write((tx) => revokeKey(command, tx, key.id, CLI_ACTOR));
    notice();
    expectProblem(await app.call("/api/v1/key", { key: value }), "revoked_key");
  });

  test("a key rotated by another process works with its new value only", async () => {
    await using both = await serverAndCommand();
    const { app, command, notice } = both;
    const { key, value } = await app.createKey();
    const rotated = await command.db.write((tx) =>
      rotateKey(command, tx, key.id, "now", CLI_ACTOR),
    );
    notice();
    expectProblem(await app.call("/api/v1/key", { key: value }), "expired_key");
    expect((await app.call("/api/v1/key", { key: rotated.value })).status).toBe(200);
  });

  test("a rate limit changed by another process applies to the same bucket", async () => {
    await using both = await serverAndCommand();
    const { app, command, notice } = both;
    const { key, value } = await app.createKey({ rate_limit: 10 });
    await app.call("/api/v1/key", { key: value });
    await command.db.write((tx) => updateKey(command, tx, key.id, { rate_limit: 2 }, CLI_ACTOR));
    notice();
    const { headers } = await app.call("/api/v1/key", { key: value });
    expect(headers.get("x-ratelimit-limit")).toBe("2");
    expect(headers.get("x-ratelimit-remaining")).toBe("0");
  });
});

test("foreignVersion changes with another process's commits only", async () => {
  await using both = await serverAndCommand();
  const { app, command } = both;
  const before = app.ctx.db.foreignVersion();
  await app.createKey();
  expect(app.ctx.db.foreignVersion()).toBe(before);
  await command.db.write((tx) =>
    createKey(command, tx, { name: "made elsewhere", scopes: ["read:status"] }, CLI_ACTOR),
  );
  expect(app.ctx.db.foreignVersion()).not.toBe(before);
});
