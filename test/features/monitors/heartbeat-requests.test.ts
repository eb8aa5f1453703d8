import { describe, expect, test } from "bun:test";
import { createMonitoring } from "../../../src/features/monitors/engine/engine";
import { tokensOf } from "../../../src/features/monitors/tokens";
import { listSignals } from "../../../src/features/monitors/job-store";
import { findMonitor } from "../../../src/features/monitors/store";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createTestApp, expectProblem } from "../../support/app";

/** An application with a running engine, and a push monitor whose job calls by HTTP. */
async function openJob() {
  let engine: ReturnType<typeof createMonitoring> | undefined;
  const app = await createTestApp({ monitoring: (ctx) => (engine = createMonitoring(ctx)) });
  const key = await app.keyWith("manage:monitors");
  engine?.start();
  const json = { type: "push", name: "Backup", config: { grace_seconds: 600 } };
  const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
  const path = `/api/v1/monitors/${body.id}`;
  const monitorNum = findMonitor(app.ctx.db, { id: body.id })?.num ?? 0;
  return {
    app,
    clock: app.clock,
    /** Sends a signal, such as `/start`. */
    async send(end: string) {
      const sending = app.call(`/api/v1/heartbeats/${body.token}${end}`);
      await app.clock.advance(0);
      return sending;
    },
    read: async () => (await app.call(path, { key })).body,
    pause: () => app.call(`${path}/pause`, { key, method: "POST" }),
    signals: () => listSignals(app.ctx.db, { monitorNum, limit: 100 }),
    lastUse: () => tokensOf(app.ctx.db, body.id)[0]?.lastUsedAt,
    async [Symbol.asyncDispose]() {
      await engine?.stop();
      await app[Symbol.asyncDispose]();
    },
  };
}

describe("signals that a job sends by HTTP", () => {
  test("a run is recorded from its start to its exit code", async () => {
    await using job = await openJob();
    expect((await job.send("/start?rid=7")).body).toEqual({ ok: true });
    expect(await job.read()).toMatchObject({ state: "pending", last_check: null });
    await job.clock.advance(90 * SECOND_MS);
    expect((await job.send("/2?rid=7&msg=disk+full")).status).toBe(200);
    expect(await job.read()).toMatchObject({
      state: "down",
      last_check: { outcome: "failed", latency_ms: 90_000, message: "Exit code 2. disk full" },
    });
    await job.send("/0?rid=8");
    expect(await job.read()).toMatchObject({ state: "up", last_check: { message: null } });
    expect(job.signals().map(({ kind, exitCode }) => [kind, exitCode])).toEqual([
      ["success", 0],
      ["fail", 2],
      ["start", null],
    ]);
  });

  test("a paused monitor answers every signal and records none, nor the use of its token", async () => {
    await using job = await openJob();
    await job.pause();
    for (const end of ["", "/start", "/fail", "/log?msg=x", "/1"]) {
      const answer = await job.send(end);
      expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    }
    expect(job.signals()).toEqual([]);
    expect(job.lastUse()).toBeNull();
    expect(await job.read()).toMatchObject({ state: "paused", last_check: null });
  });

  test("a signal with an exit code of more than 255 records nothing", async () => {
    await using job = await openJob();
    expectProblem(await job.send("/256"), "not_found");
    expect(job.signals()).toEqual([]);
    expect(job.lastUse()).toBeNull();
  });

  test("the last use of a token is recorded at most once a minute, with its signal", async () => {
    await using job = await openJob();
    const first = job.clock.now();
    await job.send("/start");
    expect(job.lastUse()).toBe(first);
    await job.clock.advance(MINUTE_MS - SECOND_MS);
    await job.send("");
    expect(job.lastUse()).toBe(first);
    await job.clock.advance(SECOND_MS);
    const later = job.clock.now();
    await job.send("/log");
    expect(job.lastUse()).toBe(later);
  });

  test("signals change neither the version nor the ETag for If-Match of their monitor", async () => {
    await using job = await openJob();
    const { version } = await job.read();
    for (const end of ["/start", "/log", "/0"]) await job.send(end);
    expect((await job.read()).version).toBe(version);
    expect(job.app.audit().map(({ action }) => action)).not.toContain("monitor.update");
  });
});
