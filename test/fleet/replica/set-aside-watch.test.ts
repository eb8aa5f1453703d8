import { expect, test } from "bun:test";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dismissOrphans } from "../../../src/features/alarms/fleet";
import { orphansFamily, watchSetAside } from "../../../src/fleet/replica/follow-leader";
import { CLI_ACTOR } from "../../../src/base/actor";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";

function record({ ctx }: TestApp, name: string): Promise<unknown> {
  const event = { type: "incident.created" as const, pageId: null, subjectId: "inc_1" };
  return ctx.db.write((tx) => ctx.outbox.record(tx, { ...event, data: { name } }));
}

test("databases of earlier terms are found with the number of events that the present one lacks", async () => {
  using folder = temporaryFolder();
  const database = join(folder.path, "allclear.db");
  await using app = await createTestApp({ databasePath: join(folder.path, "present.db") });
  await record(app, "common");
  app.ctx.db.copyTo(join(folder.path, "old.db"));
  const old = await createTestApp({ databasePath: join(folder.path, "old.db"), clock: app.clock });
  await app.clock.advance(SECOND_MS);
  await record(app, "kept");
  await record(old, "lost");
  await record(old, "lost too");
  old.ctx.db.copyTo(join(folder.path, "allclear.db.term-6"));
  await old[Symbol.asyncDispose]();
  copyFileSync(join(folder.path, "old.db"), join(folder.path, "allclear.db.before-restore-1"));

  const { log } = createTestLog("silent");
  const deps = { clock: app.clock, log, directory: { database }, node: "oslo/node_a" };
  const watch = watchSetAside(deps, (work) => work(app.ctx.db));
  expect(watch.list()).toEqual([]);
  await app.clock.advance(10 * SECOND_MS);
  const file = join(folder.path, "allclear.db.term-6");
  expect(watch.list()).toEqual([{ file, events: 2 }]);
  const metric = () => [...orphansFamily(watch).read()];
  expect(metric()).toEqual([{ value: 2 }]);

  // A dismissal by the primary arrives with the database.
  const dismiss = (node: string) =>
    app.ctx.db.write((tx) => dismissOrphans(app.ctx, tx, { node, file, events: 2 }, CLI_ACTOR));
  await dismiss("oslo/node_b");
  await app.clock.advance(5 * SECOND_MS);
  expect(metric()).toEqual([{ value: 2 }]);
  await dismiss("another-host/node_a");
  await app.clock.advance(5 * SECOND_MS);
  expect(metric()).toEqual([{ value: 0 }]);
  expect(watch.list()).toEqual([{ file, events: 2 }]);

  app.ctx.db.copyTo(`${file}-2`);
  await app.clock.advance(10 * MINUTE_MS);
  expect(watch.list()).toEqual([
    { file, events: 2 },
    { file: `${file}-2`, events: 0 },
  ]);

  // The last known state stays while a file cannot be read.
  writeFileSync(`${file}-2`, "no database");
  await app.clock.advance(10 * MINUTE_MS);
  expect(watch.list()).toHaveLength(2);

  rmSync(file);
  rmSync(`${file}-2`);
  await app.clock.advance(10 * MINUTE_MS);
  expect(watch.list()).toEqual([]);
  watch.cancel();
});
