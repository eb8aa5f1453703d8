import { expect, test } from "bun:test";
import { OPTIONS } from "../../../../src/base/config/options";
import { createTestApp, testConfig } from "../../../support/app";
import { NO_BASE_URL } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { commandLine } from "../../../support/command-line";
import { temporaryFolder } from "../../../support/temporary-folder";
import { readLastBackup } from "../../../../src/features/backups/backups";
import { openForCommand } from "../../../../src/installation";
import { join } from "node:path";

const GENERAL = "/admin/settings/general";

/** Rows of the settings in force: value and origin by name. */
function settingsOn(html: string): Record<string, [string, string]> {
  const cells = readHtml(html).texts("#settings-in-force td");
  const rows: Record<string, [string, string]> = {};
  for (let at = 0; at < cells.length; at += 3) {
    rows[cells[at] ?? ""] = [cells[at + 1] ?? "", cells[at + 2] ?? ""];
  }
  return rows;
}

test("every option is listed with its value and its origin", async () => {
  const env = { ...NO_BASE_URL, ALLCLEAR_KEEP_AUDIT_DAYS: "30", ALLCLEAR_TRUSTED_PROXIES: "" };
  await using app = await createTestApp({ env });
  const session = await app.signedIn();
  const shown = async () => settingsOn((await app.call(GENERAL, { session })).text);
  const before = await shown();
  expect(Object.keys(before)).toHaveLength(Object.keys(OPTIONS).length);
  expect(before).toMatchObject({
    "Listen address": ["127.0.0.1:8080", "Default"],
    "Public address": ["http://127.0.0.1:8080", "Default"],
    "Trusted proxies": ["None", "ALLCLEAR_TRUSTED_PROXIES"],
    "Allowed networks": ["None", "Default"],
    "Activity is kept for": ["30 days", "ALLCLEAR_KEEP_AUDIT_DAYS"],
  });
  await app.call(GENERAL, { session, form: { public_address: "http://nas" } });
  const form = { allowed_networks: "10.0.0.0/8\n192.168.1.1" };
  await app.call(`${GENERAL}/networks`, { session, form });
  expect(await shown()).toMatchObject({
    "Public address": ["http://nas", "Set here"],
    "Allowed networks": ["10.0.0.0/8, 192.168.1.1", "Set here"],
  });
});

test("a flag is named as the origin before the variable that it overrides", async () => {
  await using app = await createTestApp();
  const { ctx } = app;
  ctx.config = { ...ctx.config, sources: { ...ctx.config.sources, logLevel: "flag" } };
  const session = await app.signedIn();
  const rows = settingsOn((await app.call(GENERAL, { session })).text);
  expect(rows["Log level"]).toEqual(["info", "--log-level"]);
});

test("secrets of a fleet are shown as set, without their values", async () => {
  const env = {
    ALLCLEAR_FLEET_STORE: "s3://bucket/fleet",
    ALLCLEAR_FLEET_STORE_KEY_ID: "HIDDEN-id",
    ALLCLEAR_FLEET_STORE_SECRET: "HIDDEN-secret",
    ALLCLEAR_FLEET_SECRET: `HIDDEN-${"x".repeat(32)}`,
    ALLCLEAR_VALKEY_URL: "valkeys://:HIDDEN-password@valkey.example",
  };
  await using app = await createTestApp({ env });
  const session = await app.signedIn();
  const { text } = await app.call(GENERAL, { session });
  expect(settingsOn(text)).toMatchObject({
    "Store of the fleet": ["s3://bucket/fleet", "ALLCLEAR_FLEET_STORE"],
    "Access key id for the store": ["Set", "ALLCLEAR_FLEET_STORE_KEY_ID"],
    "Secret for the store": ["Set", "ALLCLEAR_FLEET_STORE_SECRET"],
    "Secret of the fleet": ["Set", "ALLCLEAR_FLEET_SECRET"],
    Valkey: ["valkey.example:6379", "ALLCLEAR_VALKEY_URL"],
  });
  expect(text).not.toContain("HIDDEN");
});

test("the screen shows version, start, running time and the time of the server", async () => {
  await using app = await createTestApp();
  await app.clock.advance(((3 * 24 + 6) * 60 + 59) * 60_000);
  const session = await app.signedIn();
  const page = readHtml((await app.call(GENERAL, { session })).text);
  expect(page.texts("#general-version dd")).toEqual([
    "10 Mar 2026, 12:00 UTC",
    "3 days 6 h",
    expect.stringMatching(/^Schema version \d+$/),
    "13 Mar 2026, 18:59 UTC",
  ]);
});

test("a backup by command is audited and is the last backup", async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const run = commandLine(dataDir);
  await run(["key", "create", "--name", "CI", "--scope", "read:status"]);
  const file = join(folder.path, "copy.db");
  expect(await run(["backup", file])).toEqual({ exitCode: 0, out: [], err: [`Wrote ${file}.`] });
  const env = { ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" };
  const { ctx, close } = openForCommand(testConfig(env), "test", { canCreate: false });
  expect(readLastBackup(ctx.db)).toMatchObject({
    by: "Command line",
    bytes: Bun.file(file).size,
  });
  close();
});

test.each([
  [0.5, [], "meter"],
  [0.86, ["Getting full"], "meter t-degraded"],
  [0.96, ["Almost full"], "meter t-major"],
])("a disk of which %p is used has its tone", async (used, words, tone) => {
  await using app = await createTestApp();
  app.ctx.db.disk = async () => ({ freeBytes: (1 - used) * 40e9, totalBytes: 40e9 });
  const session = await app.signedIn();
  const page = readHtml((await app.call(GENERAL, { session })).text);
  expect(page.texts(".disk-state")).toEqual(words);
  expect(page.attributes("#general-disk svg", "class")[0]).toBe(tone);
  expect(page.attributes("#general-disk svg", "aria-label")).toEqual([
    `${used * 100} % of the disk used`,
  ]);
});
