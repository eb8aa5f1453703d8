import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { listOrphans } from "../../src/db/orphans";
import { openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { temporaryFolder } from "../support/temporary-folder";

test("events are listed only of a database of Allclear, and another file is refused by its name", async () => {
  using folder = temporaryFolder();
  const env = { ALLCLEAR_DATA_DIR: folder.path, ALLCLEAR_LOG_LEVEL: "silent" };
  const { ctx, close } = openForCommand(testConfig(env), "test", { canCreate: true });
  const event = { pageId: null, subjectId: "inc_1", data: { name: "Down" } };
  await ctx.db.write((tx) => ctx.outbox.record(tx, { type: "incident.created", ...event }));
  const present = join(folder.path, "present.db");
  ctx.db.copyTo(present);
  await ctx.db.write((tx) => ctx.outbox.record(tx, { type: "incident.updated", ...event }));
  close();

  const setAside = join(folder.path, "allclear.db");
  expect(listOrphans(setAside, present)).toMatchObject([{ type: "incident.updated" }]);

  const text = join(folder.path, "notes.txt");
  writeFileSync(text, "This is no database.");
  const other = join(folder.path, "other.db");
  const sqlite = new Database(other);
  sqlite.run("CREATE TABLE events (id TEXT)");
  sqlite.close();
  const directory = join(folder.path, "folder");
  mkdirSync(directory);
  for (const file of [text, other, directory]) {
    const list = () => listOrphans(file, present);
    expect(list).toThrow(OperatorError);
    expect(list).toThrow(`${file} is not a database of Allclear.`);
  }
});
