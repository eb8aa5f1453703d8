import { describe, expect, test } from "bun:test";
import { findComponent } from "../../../src/features/components/store";
import { createMonitoring } from "../../../src/features/monitors/engine/engine";
import { deleteMonitor, rotateToken } from "../../../src/features/monitors/monitors";
import { insertMonitorToken, listMonitorTokens } from "../../../src/features/monitors/job-store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { sha256 } from "../../../src/base/hash";
import { anotherProcess } from "../../support/second-connection";
import {
  type Answer,
  type CallOptions,
  chargeOf,
  createTestApp,
  expectProblem,
} from "../../support/app";
import { createMonitorApi, type MonitorApi } from "../../support/monitor-api";
import { temporaryFolder } from "../../support/temporary-folder";

async function push(api: MonitorApi, name = "Backup"): Promise<{ id: string; token: string }> {
  return await api.create({ type: "push", name, config: {} });
}

function beat(api: MonitorApi, token: string, options: CallOptions = {}, query = "") {
  return api.app.call(`/api/v1/heartbeats/${token}${query}`, options);
}

describe("requests with a heartbeat", () => {
  test("a heartbeat is accepted by GET, HEAD and POST, with the token in the path or header, and with any body", async () => {
    await using api = await createMonitorApi();
    const { id, token } = await push(api);
    const post = { method: "POST" };
    const raw = { ...post, raw: "{", headers: { "content-type": "application/json" } };
    const answers = [
      await beat(api, token),
      await beat(api, token, post),
      await beat(api, token, raw),
      await beat(api, token, { ...post, json: { any: "thing" } }),
      await beat(api, token, { ...post, raw: "x", headers: { "content-type": "image/png" } }),
      await api.app.call("/api/v1/heartbeats", { key: token }),
      await api.app.call("/api/v1/heartbeats", { ...raw, key: token }),
    ];
    for (const answer of answers) {
      expect(answer.body).toEqual({ ok: true });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    expect((await beat(api, token, { method: "HEAD" })).status).toBe(200);
    expect(api.heartbeats).toHaveLength(answers.length + 1);
    for (const one of api.heartbeats) {
      expect(one).toMatchObject({ id, outcome: "ok", latencyMs: null });
    }
  });

  test("a heartbeat reports status, message and duration in its query", async () => {
    await using api = await createMonitorApi();
    const { id, token } = await push(api);
    await beat(api, token, {}, "?status=down&msg=disk%20full&ping=12.6");
    await beat(api, token, { method: "POST" }, "?status=up&msg=OK&ping=");
    await beat(api, token, {}, `?msg=${"é".repeat(1_000)}`);
    expect(api.heartbeats).toMatchObject([
      { id, outcome: "failed", latencyMs: 13, message: "disk full" },
      { id, outcome: "ok", latencyMs: null, message: "OK" },
      { id, outcome: "ok", latencyMs: null, message: "é".repeat(1_000) },
    ]);
  });

  test("a heartbeat with a message of more than 1,000 characters is accepted and answered with msg_truncated", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    expect((await beat(api, token, {}, `?msg=${"é".repeat(1_000)}`)).body).toEqual({ ok: true });
    const cut = await beat(api, token, {}, `?msg=${"😀".repeat(1_001)}`);
    expect(cut.body).toEqual({ ok: true, msg_truncated: true });
    expect(api.heartbeats.at(-1)?.message).toBe("😀".repeat(1_000));
  });

  test("a heartbeat uses the text of its body as message unless the query has one", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    const said = async (options: CallOptions, query = "") => {
      const answer = await beat(api, token, { method: "POST", ...options }, query);
      expect(answer.status).toBe(200);
      return api.heartbeats.at(-1)?.message;
    };
    expect(await said({ raw: " 3 files\nfailed \u0000\n" })).toBe("3 files\nfailed");
    expect(await said({ json: { files: 3 } })).toBe('{"files":3}');
    expect(await said({ raw: "in the body" }, "?msg=in+the+query&status=down")).toBe(
      "in the query",
    );
    expect(await said({ raw: new Uint8Array([0x80, 0x81, 0xff]) })).toBeNull();
    expect(await said({})).toBeNull();
    expect(await said({ raw: `called ${token}` })).toBe("called [redacted]");
  });

  test("a heartbeat reads 10,000 bytes of its body, without partial characters", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    let pulled = 0;
    const raw = new ReadableStream({
      pull(stream) {
        pulled += 1;
        stream.enqueue(new TextEncoder().encode(` ${"é".repeat(999)} `));
      },
    });
    const headers = { "transfer-encoding": "chunked" };
    const answer = await beat(api, token, { method: "POST", raw, headers });
    expect(answer.body).toEqual({ ok: true, msg_truncated: true });
    expect(pulled).toBeLessThan(10);
    const spaces = `${" ".repeat(9_999)}é`;
    const blank = await beat(api, token, { method: "POST", raw: spaces });
    expect(blank.body).toEqual({ ok: true });
    expect(api.heartbeats.at(-1)?.message).toBeNull();
  });

  test("a heartbeat with an invalid query is rejected", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    for (const query of ["?status=fine", "?ping=fast", "?ping=-1", "?msg=%00"]) {
      expectProblem(await beat(api, token, {}, query), "invalid_request");
    }
    expect(api.heartbeats).toEqual([]);
    expect((await beat(api, token, {}, "?status=up")).status).toBe(200);
    expect(api.heartbeats).toHaveLength(1);
  });

  test("a heartbeat's message has its token redacted, and is rejected with an API key", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    await beat(api, token, {}, `?msg=called%20${token}%20twice`);
    expect(api.heartbeats[0]?.message).toBe("called [redacted] twice");
    const { value } = await api.app.createKey();
    expectProblem(await beat(api, token, {}, `?msg=${value}`), "invalid_request");
    expect(api.heartbeats).toHaveLength(1);
  });
});

describe("rate limits of valid heartbeat tokens", () => {
  test("a valid token has its own bucket of 120 requests per minute", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    for (let i = 0; i < 100; i++) await api.app.call("/");
    expectProblem(await api.app.call("/"), "rate_limited");
    const answer = await beat(api, token);
    expect(chargeOf(answer)).toBe("heartbeat 119");
    expect(answer.headers.get("ratelimit-policy")).toBe('"heartbeat";q=120;w=60');
    expect(chargeOf(await api.app.call("/api/v1/heartbeats", { key: token }))).toBe(
      "heartbeat 118",
    );
  });

  test("each description of a heartbeat in the OpenAPI document names this limit", async () => {
    await using api = await createMonitorApi();
    const { paths } = (await api.app.call("/openapi.json")).body;
    const heartbeats = Object.entries<Record<string, { description: string }>>(paths).filter(
      ([path]) => path.startsWith("/api/v1/heartbeats"),
    );
    const limits = heartbeats.flatMap(([, operations]) =>
      Object.values(operations).map(
        ({ description }) => /limit of (\d+) (?:calls )?a minute/.exec(description)?.[1],
      ),
    );
    expect(limits.length).toBeGreaterThan(3);
    expect(new Set(limits)).toEqual(new Set(["120"]));
  });

  test("a hundred jobs behind one address can send heartbeats", async () => {
    await using api = await createMonitorApi();
    const tokens: string[] = [];
    for (let i = 0; i < 100; i++) tokens.push((await push(api, `Job ${i}`)).token);
    for (let minute = 0; minute < 3; minute++) {
      for (const token of tokens) expect((await beat(api, token)).status).toBe(200);
      await api.app.clock.advance(60_000);
    }
    expect(api.heartbeats).toHaveLength(300);
    expect(chargeOf(await api.app.call("/"))).toBe("public 99");
  });

  test("ten thousand heartbeats in a minute are limited to 120", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    let rejected: Answer | undefined;
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 167; i++) {
        const answer = await beat(api, token);
        if (answer.status !== 200) rejected = answer;
      }
      await api.app.clock.advance(1_000);
    }
    expect(api.heartbeats.length).toBe(120);
    const { detail } = expectProblem(rejected as Answer, "rate_limited");
    expect(detail).toStartWith("The limit of 120 requests a minute for this heartbeat token");
    expect(rejected?.headers.get("retry-after")).toBe("1");
    expect((await beat(api, token)).status).toBe(200);
  });

  test("a rotated token keeps the bucket of the old one", async () => {
    await using api = await createMonitorApi();
    const { id, token } = await push(api);
    await beat(api, token);
    const { body } = await api.call(`/${id}/rotate-token`, { method: "POST" });
    expect(chargeOf(await beat(api, body.token))).toBe("heartbeat 118");
  });
});

describe("rate limits of invalid heartbeat tokens", () => {
  test("every invalid token is answered alike and charged to the client address", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    const wrong = [
      token.slice(1),
      `${token}0`,
      token.slice(0, -1) + (token.endsWith("0") ? "1" : "0"),
      token.toLowerCase(),
      `${token}%00`,
      "x",
    ];
    const seen: string[] = [];
    for (const guess of wrong) {
      const inPath = await beat(api, guess);
      const { instance: _, ...said } = expectProblem(inPath, "not_found");
      seen.push(JSON.stringify(said), chargeOf(inPath).split(" ")[0] ?? "");
    }
    const unknown = "The heartbeat token is unknown: no monitor of this server has it.";
    expect(new Set(seen).size).toBe(2);
    expect(seen).toContain("public");
    expect(JSON.parse(seen[0] ?? "").detail).toBe(unknown);
    const asBearer = await api.app.call("/api/v1/heartbeats", { key: wrong[2] });
    expect(expectProblem(asBearer, "invalid_key").detail).toBe(unknown);
    expect(chargeOf(asBearer)).toBe("public 93");
    expect(asBearer.headers.get("www-authenticate")).toStartWith("Bearer ");
    const none = await api.app.call("/api/v1/heartbeats");
    expectProblem(none, "missing_key");
    expect(chargeOf(none)).toBe("public 92");
    expect(api.heartbeats).toEqual([]);
  });

  test("guessed tokens are limited by client address, and valid tokens still work", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    for (let i = 0; i < 100; i++) {
      expectProblem(await beat(api, "x".repeat(43)), "not_found");
    }
    expectProblem(await beat(api, "x".repeat(43)), "rate_limited");
    expect((await beat(api, token)).status).toBe(200);
    expect((await beat(api, "x".repeat(43), { from: "198.51.100.1" })).status).toBe(404);
  });
});

describe("lifetime of a heartbeat token", () => {
  test("rotation replaces a token at once and shows the new one once", async () => {
    await using api = await createMonitorApi();
    const { id, token } = await push(api);
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect((await beat(api, token)).status).toBe(200);
    const rotated = await api.call(`/${id}/rotate-token`, { method: "POST" });
    expect(rotated.body.heartbeat_url).toEndWith(`/api/v1/heartbeats/${rotated.body.token}`);
    expect(rotated.body.version).toBe(2);
    expectProblem(await beat(api, token), "not_found");
    expect((await beat(api, rotated.body.token)).status).toBe(200);
    expect(api.app.audit().at(-1)).toMatchObject({ action: "monitor.rotate_token" });
    expect((await api.call(`/${id}`)).text).not.toContain(rotated.body.token);
  });

  test("a token is unknown after its monitor is deleted", async () => {
    await using api = await createMonitorApi();
    const { id, token } = await push(api);
    expect((await beat(api, token)).status).toBe(200);
    await api.call(`/${id}`, { method: "DELETE" });
    expectProblem(await beat(api, token), "not_found");
    expect(api.heartbeats).toHaveLength(1);
  });

  test("rotation keeps the tokens of other products, and deleting the monitor ends all", async () => {
    await using api = await createMonitorApi();
    const { id } = await push(api);
    const { ctx } = api.app;
    const taken = { monitorId: id, kind: "kuma", createdAt: 1 } as const;
    await ctx.db.write((tx) => insertMonitorToken(tx, { hash: sha256("taken over"), ...taken }));
    const kinds = () =>
      (["native", "kuma", "gatus", "healthchecks"] as const).filter(
        (kind) => listMonitorTokens(ctx.db, { kind }).length === 1,
      );
    expect((await api.call(`/${id}/rotate-token`, { method: "POST" })).status).toBe(200);
    expect(kinds()).toEqual(["native", "kuma"]);
    await api.call(`/${id}`, { method: "DELETE" });
    expect(kinds()).toEqual([]);
  });

  test("the token of another product is no token of this server's own addresses", async () => {
    await using api = await createMonitorApi();
    const { id } = await push(api);
    const token = "k".repeat(43);
    const taken = { monitorId: id, kind: "kuma", createdAt: 1 } as const;
    await api.app.ctx.db.write((tx) => insertMonitorToken(tx, { hash: sha256(token), ...taken }));
    expectProblem(await beat(api, token), "not_found");
  });

  test("a token that another process removes is unknown", async () => {
    using folder = temporaryFolder();
    const databasePath = `${folder.path}/allclear.db`;
    await using api = await createMonitorApi({ databasePath });
    const [first, second] = [await push(api, "One"), await push(api, "Two")];
    expect((await beat(api, first.token)).status).toBe(200);
    await using other = anotherProcess(api.app, databasePath);
    const token = await other.ctx.db.write((tx) => {
      deleteMonitor(other.ctx, tx, first.id, CLI_ACTOR);
      return rotateToken(other.ctx, tx, second.id, CLI_ACTOR).token;
    });
    api.app.ctx.signals.databaseChangedElsewhere.emit();
    expectProblem(await beat(api, first.token), "not_found");
    expectProblem(await beat(api, second.token), "not_found");
    expect((await beat(api, token)).status).toBe(200);
  });
});

test("only push monitors have a token to rotate", async () => {
  await using api = await createMonitorApi();
  const { id } = await api.create();
  const before = api.written();
  expectProblem(await api.call(`/${id}/rotate-token`, { method: "POST" }), "conflict");
  expect(api.written()).toEqual(before);
});

test("a heartbeat is unavailable if the server runs no monitoring", async () => {
  await using app = await createTestApp();
  const key = await app.keyWith("manage:monitors");
  const json = { type: "push", name: "Backup" };
  const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
  const answer = await app.call(`/api/v1/heartbeats/${body.token}`);
  expectProblem(answer, "unavailable");
  expect(answer.headers.get("retry-after")).toBe("5");
});

test("a heartbeat with status=down takes its monitor down at once, and the next brings it up", async () => {
  let engine: ReturnType<typeof createMonitoring> | undefined;
  await using app = await createTestApp({
    monitoring: (ctx) => (engine = createMonitoring(ctx)),
  });
  const { components } = await app.page();
  const key = await app.keyWith("manage:monitors");
  engine?.start();
  const json = { type: "push", name: "Backup", component_ids: [components["API"]] };
  const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
  const say = async (query: string) => {
    const saying = app.call(`/api/v1/heartbeats/${body.token}${query}`);
    await app.clock.advance(1_000);
    expect((await saying).status).toBe(200);
    return (await app.call(`/api/v1/monitors/${body.id}`, { key })).body;
  };
  const component = () => findComponent(app.ctx.db, { id: components["API"] ?? "" })?.status;
  expect(await say("")).toMatchObject({ state: "up" });
  const down = await say("?status=down&msg=disk%20full&ping=40");
  expect(down).toMatchObject({
    state: "down",
    state_since: "2026-03-10T12:00:01.000Z",
    last_check: { outcome: "failed", latency_ms: 40, message: "disk full" },
  });
  expect(component()).toBe("partial_outage");
  expect(await say("?status=up")).toMatchObject({ state: "up" });
  expect(component()).toBe("operational");
  await engine?.stop();
});
