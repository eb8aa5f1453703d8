import { expect, test } from "bun:test";
import { createDb } from "../src/db/database";
import { migrate } from "../src/db/migrations";
import { openDataDirectory } from "../src/db/data-directory";
import { openSqlite } from "../src/db/open";
import { revokeKey } from "../src/features/keys/keys";
import { CLI_ACTOR } from "../src/base/actor";
import { createContext } from "../src/installation";
import { systemRandom } from "../src/base/hash";
import { SECOND_MS } from "../src/base/time";
import { startServer } from "../src/server";
import { testConfig } from "./support/app";
import { createTestClock } from "./support/clock";
import { createTestLog } from "./support/log";
import { temporaryFolder } from "./support/temporary-folder";
import { createKey, createPage, updateKey, updatePage } from "./support/examined";

test("a server takes in changes of another process within one second", async () => {
  using folder = temporaryFolder();
  const clock = createTestClock();
  const directory = openDataDirectory(folder.path);
  const config = testConfig({ ALLCLEAR_DATA_DIR: folder.path, ALLCLEAR_LISTEN: "127.0.0.1:0" });
  const { log } = createTestLog("info");
  const connect = () => {
    const sqlite = openSqlite(directory.database, 0);
    migrate(sqlite, directory);
    const db = createDb(sqlite, clock, log);
    return createContext({ config, db, clock, log, random: systemRandom });
  };
  const ctx = connect();
  const other = connect();
  const { key, page } = await other.db.write((tx) => ({
    key: createKey(other, tx, { name: "test", scopes: ["read:status"] }, CLI_ACTOR),
    page: createPage(other, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR),
  }));
  const close = () => ctx.db.close();
  const server = await startServer(config, {
    installation: { ctx, directory, migration: undefined, close },
  });
  const read = () =>
    fetch(`${server.url}/api/v1/status/acme`, {
      headers: { authorization: `Bearer ${key.value}` },
    });
  expect(await (await read()).json()).toMatchObject({ page: { name: "Acme" } });
  await other.db.write((tx) => updatePage(other, tx, page.id, { name: "Acme Ltd" }, CLI_ACTOR));
  await clock.advance(SECOND_MS);
  expect(await (await read()).json()).toMatchObject({ page: { name: "Acme Ltd" } });
  await other.db.write((tx) => updateKey(other, tx, key.key.id, { rate_limit: 7 }, CLI_ACTOR));
  await clock.advance(SECOND_MS);
  expect((await read()).headers.get("x-ratelimit-limit")).toBe("7");
  await other.db.write((tx) => revokeKey(other, tx, key.key.id, CLI_ACTOR));
  await clock.advance(SECOND_MS);
  expect((await read()).status).toBe(401);
  other.db.close();
  const stopped = server.stop();
  await clock.advance(SECOND_MS);
  await stopped;
});
