import { expect, test } from "bun:test";
import { createMonitoring } from "../../../src/features/monitors/engine/engine";
import { listSignals } from "../../../src/features/monitors/job-store";
import { findMonitor } from "../../../src/features/monitors/store";
import { tokensOf } from "../../../src/features/monitors/tokens";
import { ofMonitors } from "../../../src/features/monitors/checks-store";
import { MINUTE_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";
import { giveImportedTokens } from "../../support/imported-jobs";

const UUID = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278";
const RID = "123e4567-e89b-12d3-a456-426614174000";

test("a run that is reported as in Healthchecks and a push as in Uptime Kuma are results of their monitor", async () => {
  let engine: ReturnType<typeof createMonitoring> | undefined;
  await using app = await createTestApp({ monitoring: (ctx) => (engine = createMonitoring(ctx)) });
  engine?.start();
  const { components } = await app.page({ compat: ["uptime-kuma"] }, ["Backup"]);
  const key = await app.keyWith("manage:monitors");
  const json = {
    type: "push",
    name: "Backup",
    config: { grace_seconds: 600 },
    interval_seconds: 3_600,
    failure_threshold: 1,
    on_down: "major_outage",
    component_ids: [components["Backup"]],
  };
  const { body } = await app.call("/api/v1/monitors", { method: "POST", key, json });
  await giveImportedTokens(app.ctx, body.id, [
    { kind: "healthchecks", value: UUID },
    { kind: "kuma", value: "abc" },
  ]);
  await app.clock.advance(1_000);
  const monitorNum = findMonitor(app.ctx.db, { id: body.id })?.num ?? 0;
  const checks = () =>
    ofMonitors.listChecksBefore(app.ctx.db, {
      monitorNum,
      before: Number.MAX_SAFE_INTEGER,
      limit: 10,
    });
  const newest = async () => {
    const { heartbeatList } = (await app.call("/api/status-page/heartbeat/acme")).body;
    return (Object.values(heartbeatList)[0] as { status: number }[]).at(-1)?.status;
  };

  await app.call(`/ping/${UUID}/start?rid=${RID}`);
  await app.clock.advance(2 * MINUTE_MS);
  await app.call(`/ping/${UUID}?rid=${RID}`, { method: "POST", raw: "12 files" });
  await app.clock.advance(MINUTE_MS);
  expect(checks()).toMatchObject([
    { outcome: "ok", latencyMs: 2 * MINUTE_MS, message: "12 files" },
  ]);
  expect(await newest()).toBe(1);

  await app.call("/api/push/abc?status=down&msg=disk%20full");
  await app.clock.advance(MINUTE_MS);
  expect(checks()[0]).toMatchObject({ outcome: "failed", message: "disk full" });
  expect(await newest()).toBe(0);
  expect(listSignals(app.ctx.db, { monitorNum, limit: 10 }).map(({ kind }) => kind)).toContain(
    "start",
  );
  const used = tokensOf(app.ctx.db, body.id).map(({ kind, lastUsedAt }) => [
    kind,
    lastUsedAt !== null,
  ]);
  expect(Object.fromEntries(used)).toEqual({ native: false, healthchecks: true, kuma: true });
  await engine?.stop();
});
