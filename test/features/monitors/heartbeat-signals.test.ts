import { describe, expect, test } from "bun:test";
import {
  insertMonitorToken,
  listMonitorTokens,
  listTokensOf,
} from "../../../src/features/monitors/job-store";
import { createHeartbeatDirectory } from "../../../src/features/monitors/tokens";
import { sha256 } from "../../../src/base/hash";
import { type CallOptions, chargeOf, expectProblem } from "../../support/app";
import { createMonitorApi, type MonitorApi } from "../../support/monitor-api";

async function push(api: MonitorApi): Promise<{ id: string; token: string }> {
  return await api.create({ type: "push", name: "Backup", config: {} });
}

function signal(api: MonitorApi, token: string, end: string, options: CallOptions = {}) {
  return api.app.call(`/api/v1/heartbeats/${token}/${end}`, options);
}

describe("paths of signals", () => {
  test("the path of a signal names start, fail, log or the exit code", async () => {
    await using api = await createMonitorApi();
    const { id, token } = await push(api);
    for (const end of ["start", "log?msg=half", "fail?msg=disk+full", "0", "1", "255", "007"]) {
      const answer = await signal(api, token, end);
      expect([end, answer.status, answer.body]).toEqual([end, 200, { ok: true }]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    expect(api.heartbeats).toMatchObject([
      { id, kind: "start", message: null },
      { id, kind: "log", message: "half" },
      { id, outcome: "failed", message: "disk full" },
      { id, outcome: "ok", exitCode: 0 },
      { id, outcome: "failed", exitCode: 1 },
      { id, outcome: "failed", exitCode: 255 },
      { id, outcome: "failed", exitCode: 7 },
    ]);
  });

  test("a signal is accepted by GET, HEAD and POST, whose body is the message", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    expect((await signal(api, token, "start", { method: "HEAD" })).status).toBe(200);
    const post = { method: "POST", raw: `error of ${token}` };
    expect((await signal(api, token, "3", post)).body).toEqual({ ok: true });
    const long = await signal(api, token, "log", { method: "POST", raw: "é".repeat(1_001) });
    expect(long.body).toEqual({ ok: true, msg_truncated: true });
    expect(api.heartbeats.map(({ message }) => message)).toEqual([
      null,
      "error of [redacted]",
      "é".repeat(1_000),
    ]);
  });

  test.each(["256", "1000", "-1", "1.5", "0x1", "up", "Start", "start//", "start/1", "%00"])(
    "a path that ends with %s is not found and records nothing",
    async (end) => {
      await using api = await createMonitorApi();
      const { token } = await push(api);
      expectProblem(await signal(api, token, end), "not_found");
      expect(api.heartbeats).toEqual([]);
    },
  );

  test("an exit code of more than 255 is answered with the possible endings", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    const { detail } = expectProblem(await signal(api, token, "256"), "not_found");
    expect(detail).toBe(
      "The address of a heartbeat ends with its token, start, fail, log or an exit code from 0 to 255.",
    );
  });

  test("a signal has the id of its run, which may be empty", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    const rid = "0c5f4c6e-6a52-4b8e-9d5e-6f2d0f3a9c11";
    await signal(api, token, `start?rid=${rid}`);
    await api.app.call(`/api/v1/heartbeats/${token}?rid=${rid}&status=down`);
    await signal(api, token, "0?rid=");
    expect(api.heartbeats).toMatchObject([
      { kind: "start", rid },
      { outcome: "failed", rid },
      { outcome: "ok", rid: "" },
    ]);
  });

  test("a signal with an invalid query is rejected", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    const queries = [`rid=${"a".repeat(41)}`, "rid=a+b", "rid=%3Cb%3E", "ping=fast"];
    for (const query of queries) {
      expectProblem(await signal(api, token, `start?${query}`), "invalid_request");
    }
    const { value } = await api.app.createKey();
    expectProblem(await signal(api, token, `log?msg=${value}`), "invalid_request");
    expect(api.heartbeats).toEqual([]);
  });

  test("a signal with an unknown token is not found and charged to the client address", async () => {
    await using api = await createMonitorApi();
    await push(api);
    const answer = await signal(api, "x".repeat(43), "start");
    expect(expectProblem(answer, "not_found").detail).toBe(
      "The heartbeat token is unknown: no monitor of this server has it.",
    );
    expect(chargeOf(answer)).toBe("public 99");
    expectProblem(await api.app.call("/api/v1/heartbeats/start/start"), "not_found");
    expect(api.heartbeats).toEqual([]);
  });

  test("a signal is charged to the bucket of its token, also with an unknown ending", async () => {
    await using api = await createMonitorApi();
    const { token } = await push(api);
    expect(chargeOf(await signal(api, token, "start"))).toBe("heartbeat 119");
    expect(chargeOf(await signal(api, token, "256"))).toBe("heartbeat 118");
    for (let i = 0; i < 118; i++) await signal(api, token, "log");
    expectProblem(await signal(api, token, "start"), "rate_limited");
    expect(api.heartbeats).toHaveLength(119);
  });
});

describe("several tokens of a monitor", () => {
  test("each product's token has a bucket of its own, and generated ones share that of the monitor", async () => {
    await using api = await createMonitorApi();
    const { id, token } = await push(api);
    const { ctx } = api.app;
    const owner = createHeartbeatDirectory(ctx).find(token);
    expect(owner).toEqual({
      monitorId: id,
      bucket: id,
      takesAlerts: false,
      token: { kind: "native", hash: sha256(token) },
    });
    const kuma = { monitorId: id, kind: "kuma", createdAt: 1 } as const;
    await ctx.db.write((tx) => insertMonitorToken(tx, { hash: sha256("kuma"), ...kuma }));
    expect(listMonitorTokens(ctx.db, { kind: "kuma" })).toHaveLength(1);
    expect(listTokensOf(ctx.db, { monitorId: id }).map(({ kind }) => kind)).toEqual([
      "kuma",
      "native",
    ]);
  });
});
