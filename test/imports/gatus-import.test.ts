import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import type { ImportReport } from "../../src/base/import-report";
import { readSource } from "../../src/imports/sources";
import { createIdleMonitoring, type Heartbeat } from "../../src/features/monitors/monitoring";
import { MINUTE_MS } from "../../src/base/time";
import { createTestApp, testConfig, type TestApp } from "../support/app";
import { createTestClock } from "../support/clock";
import { commandLine, jsonOf } from "../support/command-line";
import {
  GATUS_CONFIG,
  GATUS_HOUR,
  GATUS_VARIABLES,
  readGatusFixture,
  writeGatusDatabase,
} from "../support/gatus-fixture";
import { readGatusText } from "../support/gatus-config";
import { importPast } from "../support/past-source";
import { temporaryFolder } from "../support/temporary-folder";
import { GATUS_SECRETS } from "./fixtures/gatus/variables";
import { updateComponent } from "../support/examined";

const ENDPOINTS = "/compat/gatus/api/v1/endpoints";

/** Time at which Gatus ended, after the last result of the fixture. */
const ENDED = GATUS_HOUR + 10 * MINUTE_MS + 23_000;

/** Creates an application that takes over from the Gatus of the fixture, and notes heartbeats. */
function createApp(heartbeats: Heartbeat[] = []) {
  const heartbeat = async (_id: string, one: Heartbeat) => void heartbeats.push(one);
  return createTestApp({
    clock: createTestClock(ENDED),
    monitoring: (ctx) => ({ ...createIdleMonitoring(ctx), heartbeat }),
  });
}

async function importFixture(app: TestApp): Promise<ImportReport> {
  const found = await readGatusFixture();
  using _ = found.history;
  return await importPast(app, found);
}

async function importText(app: TestApp, text: string): Promise<ImportReport> {
  return await importPast(app, await readGatusText(text));
}

async function keysIn(app: TestApp): Promise<string[]> {
  const { body } = await app.call(`${ENDPOINTS}/statuses`);
  return (body as { key: string }[]).map(({ key }) => key);
}

const KEYS = [
  "_database",
  "_off",
  "jobs_nightly-backup",
  "shop_checkout-api",
  "shop_order",
  "shop_website",
];

describe("an import of Gatus", () => {
  test("creates the page, its components and monitors, webhooks, schedules and incidents", async () => {
    await using app = await createApp();
    const { counts, items, not_read: notRead } = await importFixture(app);
    expect(counts).toEqual({ created: 11, changed: 5, disabled: 1, held: 1, not_moved: 3 });
    expect(
      items.map(({ foreign, target }) => `${foreign.type} ${foreign.id} ${target?.kind ?? "none"}`),
    ).toEqual([
      "page page page",
      "group Shop group",
      "group Jobs group",
      "component shop_website component",
      "component shop_checkout-api component",
      "component _database component",
      "component _off component",
      "component jobs_nightly-backup component",
      "component shop_order component",
      "endpoint shop_website monitor",
      "endpoint shop_checkout-api monitor",
      "endpoint _database monitor",
      "endpoint _off monitor",
      "external-endpoint jobs_nightly-backup monitor",
      "suite shop_order monitor",
      "alerting slack webhook",
      "maintenance maintenance schedule",
      `announcement ${items.find(({ foreign }) => foreign.type === "announcement")?.foreign.id} incident`,
      "setting storage none",
      "setting web none",
      "history shop_create-order none",
    ]);
    // `default-endpoint` is there for an alias only.
    expect(notRead).toEqual([]);
  });

  test("changes nothing the second time", async () => {
    await using app = await createApp();
    await importFixture(app);
    const { counts, id } = await importFixture(app);
    expect(counts).toEqual({ unchanged: 18, not_moved: 3 });
    expect(id).toBeNull();
  });

  test("keeps the keys of endpoints, also when they are renamed here", async () => {
    await using app = await createApp();
    const { items } = await importFixture(app);
    expect(await keysIn(app)).toEqual(KEYS);
    const website = items.find(({ foreign }) => foreign.id === "shop_website")?.target?.id ?? "";
    await app.ctx.db.write((tx) => {
      updateComponent(app.ctx, tx, website, { name: "Shop front" }, CLI_ACTOR);
    });
    expect(await keysIn(app)).toEqual(KEYS);
    const { body } = await app.call(`${ENDPOINTS}/shop_website/statuses`);
    expect(body).toMatchObject({ name: "Shop front", key: "shop_website" });
  });

  test("lets jobs report with the key and the token that they have", async () => {
    const heartbeats: Heartbeat[] = [];
    await using app = await createApp(heartbeats);
    await importFixture(app);
    const report = async (key: string, token: string) => {
      const path = `/api/v1/endpoints/${key}/external?success=true`;
      const headers = { authorization: `Bearer ${token}` };
      return (await app.call(path, { method: "POST", headers })).status;
    };
    expect(await report("jobs_nightly-backup", GATUS_SECRETS.JOB_TOKEN)).toBe(200);
    expect(await report("jobs_nightly-backup", "another")).toBe(401);
    expect(await report("shop_website", GATUS_SECRETS.JOB_TOKEN)).toBe(401);
    expect(await report("jobs_other", GATUS_SECRETS.JOB_TOKEN)).toBe(404);
    expect(heartbeats).toMatchObject([{ outcome: "ok" }]);
  });

  test("takes over the history, so that clients read what Gatus told them", async () => {
    await using app = await createApp();
    const { history } = await importFixture(app);
    expect(history).toMatchObject({
      results: 155,
      skipped: { "endpoint is not in the configuration": 11 },
    });
    const { body } = await app.call(`${ENDPOINTS}/shop_checkout-api/statuses?pageSize=100`);
    const { results } = body as { results: { success: boolean; duration: number }[] };
    expect(results).toHaveLength(55);
    expect(results.filter(({ success }) => !success)).toHaveLength(10);
    const uptime = await app.call(`${ENDPOINTS}/shop_checkout-api/uptimes/24h`);
    expect(Math.abs(Number(uptime.text) - 45 / 55)).toBeLessThan(0.02);
    expect((await app.call(`${ENDPOINTS}/shop_website/uptimes/24h`)).text).toBe("1.000000");
  });

  test("brings up to date what changed in the file, and keeps what was edited here", async () => {
    await using app = await createApp();
    const text = (interval: string, path: string) => `endpoints:
  - { name: a, url: "https://a.example.com/${path}", interval: ${interval}, conditions: ["[STATUS] == 200"] }
  - { name: b, url: "https://b.example.com/${path}", conditions: ["[STATUS] == 200"] }
  - { name: c, url: "https://c.example.com", conditions: ["[STATUS] == 200"] }`;
    const first = await importText(app, text("1m", "x"));
    const idOf = (name: string) =>
      first.items.find(({ foreign }) => foreign.type === "endpoint" && foreign.id === name)?.target
        ?.id;
    const key = await app.keyWith("manage:monitors");
    const path = `/api/v1/monitors/${idOf("_b")}`;
    await app.call(path, { method: "PATCH", key, json: { notes: "Ours" } });
    const second = await importText(app, text("2m", "y"));
    const verdicts = second.items
      .filter(({ foreign }) => foreign.type === "endpoint")
      .map(({ foreign, verdict }) => [foreign.id, verdict]);
    expect(verdicts).toEqual([
      ["_a", "updated"],
      ["_b", "kept"],
      ["_c", "unchanged"],
    ]);
    const { body } = await app.call(`/api/v1/monitors/${idOf("_a")}`, { key });
    expect(body).toMatchObject({
      interval_seconds: 120,
      config: { url: "https://a.example.com/y" },
    });
  });

  // A ping needs a program that not every machine has.
  test("creates a monitor of every type but ping", async () => {
    await using app = await createApp();
    const urls = [
      "https://a.example.com/?a=b",
      "tcp://a.example.com:80",
      "tls://a.example.com:443",
      "wss://a.example.com/ws",
      "grpcs://a.example.com:443",
      "ssh://a.example.com",
      "starttls://a.example.com:587",
      "udp://a.example.com:53",
      "sctp://a.example.com:53",
      "ssh://b.example.com:22",
      "192.0.2.53",
    ];
    const more: Record<string, string> = {
      "ssh://b.example.com:22": "ssh: { username: a, password: hunter22 }, ",
      "192.0.2.53": "dns: { query-type: MX, query-name: example.com }, ",
    };
    const lines = urls.map(
      (url, index) =>
        `  - { name: e${index}, url: "${url}", ${more[url] ?? ""}interval: 5m, conditions: ["[CONNECTED] == true", "[RESPONSE_TIME] < 2s", "[DOMAIN_EXPIRATION] > 48h"] }`,
    );
    const { items } = await importText(app, `endpoints:\n${lines.join("\n")}`);
    const endpoints = items.filter(({ foreign }) => foreign.type === "endpoint");
    const byVerdict = Object.groupBy(endpoints, ({ verdict }) => verdict);
    const idsOf = (verdict: keyof typeof byVerdict) =>
      byVerdict[verdict]?.map(({ foreign }) => foreign.id);
    // An address has no registration.
    expect(idsOf("held")).toEqual(["_e7", "_e8", "_e9", "_e10:domain"]);
    expect(idsOf("created")).toEqual(["_e0"]);
    expect(idsOf("changed")).toHaveLength(14);
    expect(Object.keys(byVerdict)).toHaveLength(3);
  });

  test("leaves an endpoint that is gone from the file as it is, and says so", async () => {
    await using app = await createApp();
    const both = `endpoints:
  - { name: a, url: "https://a.example.com", conditions: ["[STATUS] == 200"] }
  - { name: b, url: "https://b.example.com", conditions: ["[STATUS] == 200"] }`;
    await importText(app, both);
    const { items } = await importText(app, both.split("\n").slice(0, 2).join("\n"));
    const gone = items.filter(({ foreign }) => foreign.id === "_b");
    expect(gone.map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ["kept", "It is no longer in the source."],
      ["kept", "It is no longer in the source."],
    ]);
  });

  test("of a page that asks for a sign-in is read by no client", async () => {
    await using app = await createApp();
    const text = `security: {}\nendpoints:\n  - { name: a, url: "https://a.example.com", conditions: ["[STATUS] == 200"] }`;
    await importText(app, text);
    expect((await app.call(`${ENDPOINTS}/statuses`)).status).toBe(404);
  });
});

describe("allclear import gatus", () => {
  test("prints the plan, and takes the history and variables of a file", async () => {
    using folder = temporaryFolder();
    const database = join(folder.path, "gatus.db");
    await writeGatusDatabase(database);
    const { FOLDER, ...others } = GATUS_VARIABLES;
    const variables = join(folder.path, "variables");
    await Bun.write(variables, `FOLDER="${FOLDER}"\nPORT=1\n`);
    const run = commandLine(join(folder.path, "data"));
    const args = ["import", "gatus", GATUS_CONFIG, "--dry-run", "--history", database];
    const missing = await run(args, others);
    expect(missing.exitCode).toBe(1);
    expect(missing.err.join()).toMatch(/variables are not set: FOLDER\..*--env-file/);
    const allowed = await run([...args, "--allow-unset-env"], others);
    expect(allowed.exitCode).toBe(0);
    const { exitCode, out } = await run([...args, "--env-file", variables], others);
    expect(exitCode).toBe(0);
    expect(out).toContain("External endpoints:");
    expect(out).toContain("  not moved  Cannot be moved. The reason says why.");
    expect(out).toContain("  changed    Jobs/nightly backup  → monitor nightly-backup");
  });

  test("of an uploaded file reads neither variables of the process nor files that it names", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "config.yaml");
    const text = (more: string) =>
      `endpoints: [{ name: a, url: "https://a.example.com", conditions: ["[STATUS] == 200"], ${more} }]`;
    const context = {
      config: testConfig(),
      clock: createTestClock(),
      allowedNetworks: [],
      environment: undefined,
    };
    await Bun.write(path, text("body: $PATH"));
    const reading = readSource("gatus", path, {}, context);
    await expect(reading).rejects.toThrow("These variables are not set: PATH.");
    const files = { "certificate-file": path, "private-key-file": path };
    await Bun.write(path, text(`client: { tls: ${JSON.stringify(files)} }`));
    const { monitors } = await readSource("gatus", path, {}, context);
    expect(monitors[0]).toMatchObject({ disabled: expect.stringContaining("cannot be read") });
  });

  test("imports into a new data directory, and changes nothing the second time", async () => {
    using folder = temporaryFolder();
    const run = commandLine(join(folder.path, "data"));
    const args = ["import", "gatus", GATUS_CONFIG, "--yes", "--json"];
    const first = jsonOf<ImportReport>(await run(args, GATUS_VARIABLES));
    expect(first).toMatchObject({ source: { kind: "gatus", name: "default" }, history: null });
    const second = jsonOf<ImportReport>(await run(args, GATUS_VARIABLES));
    expect(second.counts).toEqual({ unchanged: 18, not_moved: 2 });
  });

  test("shows secrets in no output, report or log", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const config = join(folder.path, "config.yaml");
    const report = join(folder.path, "report.json");
    const secret = (name: string) => `planted-${name}-5e1f`;
    await Bun.write(
      config,
      `security: { basic: { username: anna, password-bcrypt-base64: ${secret("bcrypt")} } }
storage: { type: postgres, path: "postgres://anna:${secret("storage")}@db/gatus" }
tunneling: { a: { type: SSH, password: ${secret("tunnel")} } }
alerting:
  slack: { webhook-url: "https://hooks.slack.com/services/T0/B0/${secret("slack")}" }
  discord: { webhook-url: "https://discord.com/api/webhooks/1/${secret("discord")}" }
  telegram: { token: "1:${secret("telegram")}", id: 1 }
  ntfy: { topic: ${secret("topic")}, token: tk_${secret("ntfy")}, overrides: [{ group: g, token: tk_${secret("override")} }] }
  gotify: { server-url: "https://g.example.com", token: ${secret("gotify")} }
  email: { from: a@example.com, host: m, port: 25, password: ${secret("mail")}, to: ${secret("to")}@example.com }
  pagerduty: { integration-key: ${secret("pagerduty")} }
  custom: { url: "https://x.example.com/${secret("custom")}" }
endpoints:
  - name: all
    group: g
    url: https://anna:${secret("url")}@a.example.com/?key=${secret("query")}
    headers: { Authorization: "Bearer ${secret("header")}" }
    method: POST
    body: ${secret("body")}
    client:
      proxy-url: http://anna:${secret("proxy")}@p.example.com:3128
      oauth2: { token-url: "https://l.example.com/${secret("path")}", client-id: a, client-secret: ${secret("oauth")}, scopes: [a] }
    conditions: ["[STATUS] == 200", "[IP] == ${secret("header")}"]
    alerts: [{ type: slack }, { type: discord }, { type: telegram }, { type: ntfy }, { type: gotify }, { type: email }, { type: pagerduty }, { type: custom, provider-override: { url: ${secret("alert")} } }]
  - name: ssh
    url: ssh://a.example.com:22
    ssh: { username: anna, password: ${secret("ssh")} }
    conditions: ["[CONNECTED] == true"]
  - name: socks
    url: https://a.example.com
    client: { proxy-url: "socks5://anna:${secret("socks")}@p.example.com" }
    conditions: ["[STATUS] == 200"]
  - name: broken
    url: https://a.example.com
    headers: [${secret("list")}]
    conditions: ["[STATUS] == 200"]
external-endpoints:
  - { name: job, token: ${secret("job")} }
`,
    );
    const run = commandLine(data);
    const env = { ALLCLEAR_LOG_LEVEL: "trace" };
    const written: string[] = [];
    const attempt = async (...args: string[]) => {
      const { out, err, exitCode } = await run(args, env);
      written.push(...out, ...err);
      return { out, exitCode };
    };
    await attempt("import", "gatus", config, "--dry-run");
    await attempt("import", "gatus", config, "--dry-run", "--json");
    const first = await attempt("import", "gatus", config, "--yes", "--report", report);
    expect(first.exitCode).toBe(0);
    await attempt("import", "gatus", config, "--yes", "--json");
    await Bun.write(config, `${readFileSync(config, "utf8")}\n  broken: [`);
    await attempt("import", "gatus", config, "--yes");
    const { out } = await run(["import", "list", "--json"], env);
    for (const { id } of JSON.parse(out.join("\n")) as { id: string }[]) {
      await attempt("import", "show", id);
      await attempt("import", "show", id, "--json");
    }
    written.push(readFileSync(report, "utf8"));
    const others = readdirSync(data).filter((name) => !name.startsWith("allclear.db"));
    for (const name of others) written.push(readFileSync(join(data, name), "latin1"));
    const text = written.join("\n");
    expect(text).toContain("g/all");
    expect([...new Set(text.match(/planted-\w+-/g))]).toEqual([]);
  });
});
