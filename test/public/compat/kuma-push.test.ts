import { describe, expect, test } from "bun:test";
import { tokensOf } from "../../../src/features/monitors/tokens";
import { chargeOf } from "../../support/app";
import { visit } from "../../support/domains";
import { importJob } from "../../support/imported-jobs";
import { createMonitorApi, type MonitorApi } from "../../support/monitor-api";

const TOKEN = "Hq~3$/x";
const KUMA = { kind: "kuma", value: TOKEN } as const;
const UNKNOWN = { ok: false, msg: "Monitor not found or not active." };

function push(api: MonitorApi, query = "", token = TOKEN, method = "GET") {
  return api.app.call(`/api/push/${encodeURIComponent(token)}${query}`, { method });
}

describe("Uptime Kuma's push address", () => {
  test("a push by any method is recorded with status, message and duration", async () => {
    await using api = await createMonitorApi();
    const id = await importJob(api, [KUMA]);
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
      const answer = await push(api, "?status=up&msg=OK&ping=12.6&other=1", TOKEN, method);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
      if (method !== "HEAD") expect(answer.body).toEqual({ ok: true });
    }
    expect(api.heartbeats).toHaveLength(6);
    for (const one of api.heartbeats) {
      expect(one).toMatchObject({ id, outcome: "ok", message: "OK", latencyMs: 13 });
    }
  });

  test.each([
    ["", { outcome: "ok", message: null, latencyMs: null }],
    ["?status=&ping=", { outcome: "ok", message: null, latencyMs: null }],
    ["?status=down&msg=disk%20full", { outcome: "failed", message: "disk full" }],
    ["?status=UP", { outcome: "failed" }],
    ["?ping=250ms", { latencyMs: 250 }],
    ["?ping=0", { latencyMs: null }],
    ["?ping=x", { latencyMs: null }],
    ["?ping=100000000000", { latencyMs: 100_000_000_000 }],
    ["?msg=a%00b%1b%0a%09c%0d", { message: "ab\n\tc" }],
    [`?msg=${"b".repeat(20)}%00${"b".repeat(23)}`, { message: "[redacted]" }],
    [`?msg=${"é".repeat(1_100)}`, { message: "é".repeat(1_000) }],
  ])("the query %s is read as in Uptime Kuma", async (query, expected) => {
    await using api = await createMonitorApi();
    await importJob(api, [KUMA]);
    expect((await push(api, query)).body).toEqual({ ok: true });
    expect(api.heartbeats).toMatchObject([expected]);
  });

  test.each(["100000000001", "-1"])("the duration %s is rejected", async (ping) => {
    await using api = await createMonitorApi();
    await importJob(api, [KUMA]);
    const answer = await push(api, `?ping=${ping}`);
    const msg = "Invalid ping value. Must be between 0 and 100000000000 ms.";
    expect([answer.status, answer.body]).toEqual([404, { ok: false, msg }]);
    expect(api.heartbeats).toEqual([]);
  });

  test("an unknown token, a token of another kind and a paused monitor are rejected", async () => {
    await using api = await createMonitorApi();
    const { token } = await api.create({ type: "push", name: "Own", config: {} });
    await importJob(api, [{ kind: "healthchecks", value: "abc" }]);
    for (const wrong of [token, "abc", "x", "x".repeat(500)]) {
      const answer = await push(api, "", wrong);
      expect([answer.status, answer.body]).toEqual([404, UNKNOWN]);
      expect(chargeOf(answer)).toStartWith("public");
    }
    const id = await importJob(api, [KUMA], { name: "Paused" });
    expect(chargeOf(await push(api))).toBe("heartbeat 119");
    await api.call(`/${id}/pause`, { method: "POST" });
    expect((await push(api)).body).toEqual(UNKNOWN);
    expect(api.heartbeats).toHaveLength(1);
  });

  test("the imported token is refused at the native address, and after it was ended", async () => {
    await using api = await createMonitorApi();
    const value = "a".repeat(43);
    const id = await importJob(api, [{ kind: "kuma", value }]);
    expect((await api.app.call(`/api/v1/heartbeats/${value}`)).status).toBe(404);
    expect((await push(api, "", value)).status).toBe(200);
    expect(
      tokensOf(api.app.ctx.db, id)
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(["kuma", "native"]);
    await api.call(`/${id}`, { method: "DELETE" });
    expect((await push(api, "", value)).status).toBe(404);
  });

  test("pushes are accepted below /compat/kuma and on custom domains, also of private pages", async () => {
    await using api = await createMonitorApi();
    await importJob(api, [{ kind: "kuma", value: "abc" }]);
    expect((await api.app.call("/compat/kuma/api/push/abc")).body).toEqual({ ok: true });
    const custom_domains = ["status.example"];
    await api.app.page({ slug: "own", name: "Own", custom_domains, visibility: "private" });
    expect((await visit(api.app, "status.example", "/api/push/abc")).body).toEqual({ ok: true });
    expect(api.heartbeats).toHaveLength(2);
  });

  test("no log line contains the token", async () => {
    await using api = await createMonitorApi({ logLevel: "debug" });
    await importJob(api, [{ kind: "kuma", value: "S3cretToken" }]);
    await push(api, "?msg=x", "S3cretToken");
    await push(api, "", "S3cretToken2");
    expect(JSON.stringify(api.app.logged)).not.toContain("S3cret");
    expect(api.app.logged.length).toBeGreaterThan(0);
  });
});
