import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installedCommandLine } from "../support/command-line";
import { dumpOf } from "../support/database-dump";
import { checkOf, UUIDS } from "../support/import-site";
import { temporaryFolder } from "../support/temporary-folder";

const [FIRST, SECOND, THIRD] = UUIDS;
const PING_KEY = "pqrstuvwxyz0123456789A";
const CHANNEL = "1bdea468-03bf-47b8-ab27-29a9dd0e4b94";
const BADGE = "ad63ae2d-7c4b-4d3e-9f5a-1b2c3d4e5f60";

/** Secrets in any writing. */
const SECRETS = [FIRST, SECOND, THIRD, PING_KEY, CHANNEL, BADGE].flatMap((secret) => [
  secret.slice(-8),
  secret.replaceAll("-", "").slice(0, 12),
]);

test("secrets of checks are in no output, file, table or message", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "checks.json");
  const data = join(folder.path, "data");
  const run = installedCommandLine(data);
  const written: string[] = [];
  const attempt = async (checks: unknown[] | string, args: string[], input?: string[]) => {
    await Bun.write(file, typeof checks === "string" ? checks : JSON.stringify({ checks }));
    const env = { ALLCLEAR_LOG_LEVEL: "trace" };
    const outcome = await run(["import", "healthchecks", file, ...args], env, input);
    written.push(...outcome.out, ...outcome.err);
    return outcome;
  };
  const report = join(folder.path, "report.json");
  const key = ["--ping-key", PING_KEY];
  const checks = [
    checkOf(FIRST, { channels: CHANNEL }),
    checkOf(SECOND, { slug: "Not a slug", ping_url: `https://hc-ping.test/a/${SECOND}` }),
    checkOf(THIRD, { timeout: 2 }),
    checkOf(THIRD, { grace: "soon" }),
    checkOf(FIRST),
  ];
  await attempt(checks, ["--dry-run", ...key]);
  await attempt(checks, ["--dry-run", "--json", ...key]);
  await attempt(checks, [...key], ["yes"]);
  await attempt(checks, ["--yes", "--report", report, ...key]);
  await attempt([checkOf(FIRST, { desc: "Newer" })], ["--yes", "--json", ...key]);
  await attempt(checks, ["--yes", "--source", "other", ...key]);
  await attempt(checks, ["--yes", "--ping-key", `${PING_KEY} and more`]);
  await attempt(checks, ["--yes", "--internal-page", "admin", ...key]);
  await attempt(JSON.stringify({ checks }).slice(0, -1), ["--yes", ...key]);
  await attempt([checkOf(FIRST, { ping_url: undefined, unique_key: "x" })], ["--yes", ...key]);
  const listed = await run(["import", "list", "--json"]);
  for (const { id } of JSON.parse(listed.out.join("\n")) as { id: string }[]) {
    for (const args of [
      ["show", id, "--json"],
      ["show", id],
      ["start", id],
    ]) {
      written.push(...(await run(["import", ...args])).out);
    }
  }
  written.push(...(await run(["export"])).out, readFileSync(report, "utf8"));
  written.push(JSON.stringify(dumpOf(join(data, "allclear.db"))));
  for (const name of readdirSync(data)) written.push(readFileSync(join(data, name), "latin1"));

  const text = written.join("\n");
  // The search itself finds what is there.
  expect(text).toContain("Nightly backup");
  expect(text).toContain("a6c7b0a8a66bed0df66abfdab3c77736861703ee");
  expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
});
