import { expect, test } from "bun:test";
import { usesFleet } from "../../src/base/config/options";
import { CLI_ACTOR } from "../../src/base/actor";
import { createAlarms } from "../../src/features/alarms/alarms";
import { openForCommand } from "../../src/installation";
import { startServer } from "../../src/server";
import { testConfig } from "../support/app";
import { readExposition } from "../support/exposition";
import { temporaryFolder } from "../support/temporary-folder";
import { createKey } from "../support/examined";

/** Opens a data directory as a command does. */
async function inDirectory<T>(
  env: Record<string, string>,
  work: (ctx: ReturnType<typeof openForCommand>["ctx"]) => Promise<T>,
): Promise<T> {
  const installation = openForCommand(testConfig(env), "key", { canCreate: true });
  try {
    return await work(installation.ctx);
  } finally {
    installation.close();
  }
}

/** Starts a server, and returns the kinds whose metric is 1; undefined without the metric. */
async function alarmsOfServer(env: Record<string, string>): Promise<string[] | undefined> {
  const key = await inDirectory(env, (ctx) =>
    ctx.db.write((tx) =>
      createKey(ctx, tx, { name: "metrics", scopes: ["read:analytics"] }, CLI_ACTOR),
    ),
  );
  const server = await startServer(testConfig(env));
  const answer = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${key.value}` },
  });
  const family = readExposition(await answer.text()).get("allclear_fleet_alarm");
  await server.stop();
  return family?.samples.flatMap(({ labels, value }) =>
    value === 1 ? [labels["kind"] ?? ""] : [],
  );
}

test("a server without parts for more than one machine has an alarm only if an earlier process left one", async () => {
  using folder = temporaryFolder();
  const env = {
    ALLCLEAR_DATA_DIR: folder.path,
    ALLCLEAR_LISTEN: "127.0.0.1:0",
    ALLCLEAR_LOG_LEVEL: "silent",
  };
  expect(await alarmsOfServer(env)).toEqual([]);
  await inDirectory(env, async (ctx) => {
    const alarms = createAlarms(ctx);
    alarms.raise("mirror_stale", "It is 6 min old.");
    await alarms.stop();
  });
  expect(await alarmsOfServer(env)).toEqual(["mirror_stale"]);
});

test("an option of a part counts only if it is set", () => {
  const isUsedWith = (options: object) => usesFleet({ ...testConfig(), ...options });
  expect(isUsedWith({})).toBe(false);
  expect(isUsedWith({ replica: false, mirror: undefined })).toBe(false);
  expect(isUsedWith({ replica: true })).toBe(true);
  expect(isUsedWith({ mirror: { folder: "/srv/mirror" } })).toBe(true);
});
