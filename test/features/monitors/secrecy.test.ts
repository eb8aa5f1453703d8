import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { applyTransition } from "../../../src/features/monitors/engine/transitions";
import { getMonitorRecord } from "../../../src/features/monitors/records";
import { newEvaluation } from "../../../src/features/monitors/rules";
import { sha256 } from "../../../src/base/hash";
import { dumpOf } from "../../support/database-dump";
import { createMonitorApi, HTTP, type MonitorApi } from "../../support/monitor-api";
import { clientCertificate } from "../../support/raw-server";
import { bytesIn, temporaryFolder } from "../../support/temporary-folder";

const HEADER = "header-s3cret-value";
const BODY = "body-s3cret-value";
const PASSWORD = "proxy-s3cret-value";
const CLIENT = await clientCertificate("good");
/** A distinctive line of the key. */
const [, KEY = "no key"] = CLIENT.key.split("\n");

const WITH_SECRETS = {
  ...HTTP,
  config: {
    url: "https://shop.example.com/",
    method: "POST",
    headers: { Authorization: `Bearer ${HEADER}` },
    body: `{"password":"${BODY}"}`,
  },
};

/** Monitors whose configs hold the secrets, and a change that moves each to another server. */
const SECRETIVE: [what: string, monitor: object, move: object][] = [
  ["header values and bodies", WITH_SECRETS, { url: "https://x.test/" }],
  [
    "client secrets, keys and passwords of proxies",
    {
      ...HTTP,
      config: {
        ...WITH_SECRETS.config,
        headers: {},
        oauth2: {
          token_url: "https://login.example.com/token",
          client_id: "allclear",
          client_secret: HEADER,
        },
        client_certificate: CLIENT,
        proxy: { url: "http://127.0.0.1:1", username: "monitor", password: PASSWORD },
      },
    },
    { oauth2: { token_url: "https://x.test/", client_id: "allclear" } },
  ],
  [
    "passwords and queries",
    {
      type: "postgres",
      name: "Shop",
      config: { host: "db.example.com", user: "monitor", password: HEADER, query: BODY },
    },
    { host: "x.test" },
  ],
  [
    "messages to send",
    {
      type: "websocket",
      name: "Shop",
      config: { url: "wss://shop.example.com/", headers: { Cookie: HEADER }, send: BODY },
    },
    { url: "wss://x.test/" },
  ],
];

/** Does all that can be done to a monitor, refusals included, and answers with every answer's text. */
async function useMonitor(api: MonitorApi, body: object): Promise<string[]> {
  const said: string[] = [];
  const created = await api.post(body, { "idempotency-key": "secret" });
  const { id } = created.body;
  const note = (answer: { text: string; headers: Headers }) =>
    said.push(answer.text, JSON.stringify([...answer.headers]));
  note(await api.post(body, { "idempotency-key": "secret" }));
  note(await api.call());
  note(await api.call(`/${id}`));
  note(await api.patch(id, { name: "Renamed" }));
  note(await api.patch(id, { interval_seconds: 1 }));
  note(await api.call(`/${id}/check`, { method: "POST" }));
  note(await api.call(`/${id}/checks`));
  const { ctx, clock } = api.app;
  await ctx.db.write((tx) => {
    const { row } = getMonitorRecord(tx, id);
    const evaluation = newEvaluation("down", clock.now());
    applyTransition(ctx, tx, row, { from: "up", evaluation, message: "It does not answer." });
  });
  note(await api.call(`/${id}/pause`, { method: "POST" }));
  note(await api.call(`/${id}/resume`, { method: "POST" }));
  const reader = await api.app.keyWith("read:status", "write:incidents");
  note(await api.app.call("/api/v1/incidents", { key: reader }));
  note(await api.app.call("/api/v1/status/acme", { key: reader }));
  note(await api.app.call("/status/acme"));
  note(await api.app.call("/openapi.json"));
  return said;
}

describe("secrecy of what a monitor sends", () => {
  for (const [what, monitor, move] of SECRETIVE) {
    test(`${what} are stored only in the monitor's row, and in no answer, event, audit entry or log line`, async () => {
      using folder = temporaryFolder();
      const databasePath = join(folder.path, "allclear.db");
      await using api = await createMonitorApi({ databasePath, logLevel: "trace" });
      const component_ids = [api.components["API"]];
      const body = { ...monitor, component_ids, open_incident: "automatic" };
      const said = await useMonitor(api, body);
      said.push((await api.patch(api.checked[0] ?? "", { config: move })).text);
      expect(said.length).toBeGreaterThan(20);
      expect(api.app.events().map(({ type }) => type)).toContain("monitor.down");
      const elsewhere = [
        ...said,
        JSON.stringify(api.app.logged),
        JSON.stringify(api.app.events()),
        JSON.stringify(api.app.audit()),
      ].join("\n");
      const tables = dumpOf(databasePath);
      const secrets = [HEADER, BODY, KEY, PASSWORD].filter((each) =>
        JSON.stringify(monitor).includes(each),
      );
      expect(secrets.length).toBeGreaterThan(1);
      for (const secret of secrets) {
        expect(elsewhere).not.toContain(secret);
        const holders = Object.keys(tables).filter((name) =>
          JSON.stringify(tables[name]).includes(secret),
        );
        expect(holders).toEqual(["monitors"]);
      }
    });
  }

  test("header values and bodies are deleted with the monitor", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using api = await createMonitorApi({ databasePath });
    const { id } = await api.create(WITH_SECRETS);
    expect(JSON.stringify(dumpOf(databasePath)["monitors"])).toContain(HEADER);
    await api.call(`/${id}`, { method: "DELETE" });
    expect(JSON.stringify(dumpOf(databasePath)["monitors"])).toContain(id);
    expect(JSON.stringify(dumpOf(databasePath)["monitors"])).not.toContain(HEADER);
  });
});

describe("secrecy of push tokens", () => {
  test("a push token is shown only when created or rotated, and stored only as a hash", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using api = await createMonitorApi({ databasePath, logLevel: "trace" });
    const body = { type: "push", name: "Backup", component_ids: [api.components["API"]] };
    const created = await api.post(body, { "idempotency-key": "secret" });
    const said = await useMonitor(api, body);
    const rotated = await api.call(`/${created.body.id}/rotate-token`, { method: "POST" });
    const tokens: string[] = [created.body.token, rotated.body.token];
    for (const token of tokens) expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    for (const token of tokens) {
      said.push((await api.app.call(`/api/v1/heartbeats/${token}?msg=${token}`)).text);
      said.push((await api.app.call(`/api/v1/heartbeats/${token}x`)).text);
      said.push(
        (
          await api.app.call(
            `/api/v1/heartbeats/%${token.charCodeAt(0).toString(16)}${token.slice(1)}`,
          )
        ).text,
      );
      said.push((await api.app.call(`/api/v1/heartbeats/${token}`, { method: "PUT" })).text);
      said.push((await api.app.call("/api/v1/heartbeats", { key: token })).text);
      said.push((await api.app.call("/api/v1/key", { key: token })).text);
    }
    const elsewhere = [
      ...said,
      JSON.stringify(api.heartbeats),
      JSON.stringify(api.app.events()),
      JSON.stringify(api.app.audit()),
      JSON.stringify(dumpOf(databasePath)),
    ].join("\n");
    for (const token of tokens) expect(elsewhere).not.toContain(token);
    const files = bytesIn(folder.path);
    expect(files.includes(sha256(rotated.body.token))).toBe(true);
    for (const token of tokens) expect(files.includes(token)).toBe(false);
  });

  test("a push token is redacted in the log, even if mistyped or encoded", async () => {
    await using api = await createMonitorApi({ logLevel: "trace" });
    const { token } = await api.create({ type: "push", config: {} });
    const typed = [token, `${token}x`, token.slice(0, 30), `%${hex(token)}${token.slice(1)}`];
    for (const one of typed) await api.app.call(`/api/v1/heartbeats/${one}?status=up`);
    const lines = api.app.logged.filter(({ url }) => String(url).includes("/heartbeats/"));
    expect(lines).toHaveLength(typed.length);
    for (const { url } of lines) expect(url).toEndWith("/api/v1/heartbeats/[redacted]?status=up");
    expect(lines[0]).toHaveProperty("monitor");
    expect(JSON.stringify(api.app.logged)).not.toContain(token.slice(5, 25));
  });
});

function hex(text: string): string {
  return text.charCodeAt(0).toString(16);
}
