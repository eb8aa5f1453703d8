import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/base/hash";
import { installedCommandLine } from "../support/command-line";
import { dumpOf } from "../support/database-dump";
import { foundMonitor, foundWebhook, heldMonitor } from "../support/found-objects";
import { checkOf, createImportSite, UUIDS } from "../support/import-site";
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

/** Secret texts of monitors and webhooks, of which the database alone knows. */
const PLANTED = [
  "Bearer pl4nted-header",
  "pl4nted-body",
  "pl4nted-client-secret",
  "pl4nted-proxy-password",
  "pl4nted-database-password",
  "pl4nted-held-password",
  "pl4nted-ntfy-token",
  "T000/B000/pl4ntedSlackPath",
  "whsec_cGw0bnRlZC1zaWduaW5nLXNlY3JldC1vZi0zMi1i",
  "pl4ntedPushToken",
];
const [HEADER, BODY, CLIENT, PROXY, DATABASE, HELD, NTFY, SLACK, SIGNING, PUSH] = PLANTED;

test("secrets of monitors and webhooks are in no report, log, event or audit entry", async () => {
  using folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  await using site = await createImportSite({ databasePath, logLevel: "trace" });
  const http = (url: string, more: Record<string, unknown> = {}) => ({
    config: {
      url,
      method: "POST",
      headers: { "X-Token": HEADER },
      body: BODY,
      oauth2: { token_url: "https://id.test/", client_id: "us", client_secret: CLIENT },
      proxy: { url: "http://10.0.0.9:3128", username: "us", password: PROXY },
      ...more,
    },
  });
  const postgres = { host: "db.test", database: "shop", user: "us", password: DATABASE };
  const held = {
    source: "uptime-kuma",
    type: "mongodb",
    target: "db.test",
    settings: { uri: HELD },
  };
  const webhook = (id: string, body: object) => foundWebhook(id, { body });
  const ntfy = { format: "ntfy", settings: { token: NTFY } };
  const source = (interval: number) => ({
    monitors: [
      foundMonitor("1", { body: { ...http("https://shop.test/"), interval_seconds: interval } }),
      // Each of the next three is not valid.
      foundMonitor("2", { body: http("ftp://shop.test/") }),
      foundMonitor("3", { body: http("https://shop.test/", { unknown: HEADER }) }),
      foundMonitor("4", {
        body: { type: "postgres", config: { ...postgres, port: -1 } } as object,
      }),
      foundMonitor("5", { body: { type: "postgres", config: postgres } as object }),
      heldMonitor("6", { body: { config: held } as object }),
      foundMonitor("7", {
        body: { type: "push", config: {} } as object,
        tokens: [{ kind: "kuma", value: PUSH ?? "" }],
      }),
    ],
    webhooks: [
      webhook("1", { url: "https://ntfy.sh/alerts", ...ntfy }),
      webhook("2", { url: `https://hooks.slack.com/services/${SLACK}`, format: "slack" }),
      webhook("3", { url: "https://ntfy.sh/", ...ntfy, unknown: NTFY }),
      webhook("4", { url: `http://us:${DATABASE}@ntfy.sh/alerts`, ...ntfy }),
      webhook("5", { url: "https://example.com/hook", secret: SIGNING }),
      webhook("6", { url: "http://10.0.0.9/hook", secret: `${SIGNING}, no` }),
    ],
  });
  const reports = [
    await site.importFound(source(60)),
    await site.importFound(source(120)),
    await site.importFound(source(60), { source: "other", isPaused: true }),
  ];
  expect(reports[0]?.counts).toEqual({ created: 6, disabled: 2, held: 2, not_moved: 3 });
  const { monitors, webhooks, ...tables } = dumpOf(databasePath);
  const shown = JSON.stringify([reports, site.app.logged, site.app.events(), site.app.audit()]);
  const rest = JSON.stringify(tables);
  expect(JSON.stringify([monitors, webhooks])).toContain("pl4nted-header");
  expect(PLANTED.filter((secret) => shown.includes(secret) || rest.includes(secret))).toEqual([]);
  const [ref] = tables["import_refs"] ?? [];
  const plain = sha256(JSON.stringify(source(60).monitors[0]?.body));
  expect(Buffer.from(ref?.["settings_hash"] as Uint8Array).equals(plain)).toBe(false);
});

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
