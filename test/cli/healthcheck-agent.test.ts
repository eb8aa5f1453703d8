import { expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

test("healthcheck --probe succeeds for 90 seconds after the last contact of the agent, and needs its directory", async () => {
  using folder = temporaryFolder();
  const run = commandLine(join(folder.path, "data"));
  const check = () => run(["healthcheck", "--probe", "--state-dir", folder.path]);
  const none = await check();
  expect([none.exitCode, none.err]).toEqual([1, ["The agent has had no contact with its server."]]);
  const file = join(folder.path, "contact");
  writeFileSync(file, "0.3.0\n");
  expect((await check()).exitCode).toBe(0);
  const before = Date.now() / 1_000 - 120;
  utimesSync(file, before, before);
  const old = await check();
  expect([old.exitCode, old.err[0]]).toEqual([1, expect.stringMatching(/for 1\d\d seconds/)]);
  expect((await run(["healthcheck", "--probe"])).exitCode).toBe(2);
});
