import { describe, expect, test } from "bun:test";
import { findComponent } from "../../../src/features/components/store";
import { listSpans } from "../../../src/features/monitors/spans-store";
import { applyTransition, warnOfExpiry } from "../../../src/features/monitors/engine/transitions";
import { getMonitorRecord } from "../../../src/features/monitors/records";
import { newEvaluation } from "../../../src/features/monitors/rules";
import { expectProblem, versionOf } from "../../support/app";
import { createMonitorApi, type MonitorApi } from "../../support/monitor-api";

/** A monitor of the component API that is down. */
async function downMonitor(api: MonitorApi): Promise<string> {
  const { id } = await api.create({ component_ids: [api.components["API"]] });
  const { ctx, clock } = api.app;
  await ctx.db.write((tx) => {
    const { row } = getMonitorRecord(tx, id);
    const evaluation = newEvaluation("down", clock.now());
    applyTransition(ctx, tx, row, { from: "up", evaluation, message: "It does not answer." });
  });
  expect(statusOf(api)).toBe("partial_outage");
  await clock.advance(60_000);
  return id;
}

function statusOf(api: MonitorApi, name = "API"): string | undefined {
  return findComponent(api.app.ctx.db, { id: api.components[name] ?? "" })?.status;
}

/** The states that a monitor was in, and for how many seconds; the last goes on. */
function timelineOf(api: MonitorApi, id: string) {
  const { row } = getMonitorRecord(api.app.ctx.db, id);
  const nums = JSON.stringify([row.num]);
  return listSpans(api.app.ctx.db, { nums, from: 0, to: Number.MAX_SAFE_INTEGER }).map(
    ({ row: { state, startedAt, endedAt } }) =>
      `${state} ${endedAt === null ? "…" : (endedAt - startedAt) / 1_000}`,
  );
}

describe("pausing a monitor", () => {
  test("pausing a monitor ends its causes, and paused time is its own state", async () => {
    await using api = await createMonitorApi();
    const id = await downMonitor(api);
    const paused = await api.call(`/${id}/pause`, { method: "POST" });
    expect(paused.body).toMatchObject({ paused: true, state: "paused", version: 2 });
    expect(versionOf(paused)).toBe(2);
    expect(statusOf(api)).toBe("operational");
    await api.app.clock.advance(30_000);
    const resumed = await api.call(`/${id}/resume`, { method: "POST" });
    expect(resumed.body).toMatchObject({ paused: false, state: "pending", version: 3 });
    expect(timelineOf(api, id)).toEqual(["down 60", "paused 30", "pending …"]);
    expect(
      api.app
        .audit()
        .map(({ action }) => action)
        .slice(-2),
    ).toEqual(["monitor.pause", "monitor.resume"]);
  });

  test("pausing or resuming a monitor again changes nothing", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create();
    const before = api.written();
    expect((await api.call(`/${id}/resume`, { method: "POST" })).body.version).toBe(1);
    expect(api.written()).toEqual(before);
    await api.call(`/${id}/pause`, { method: "POST" });
    const paused = api.written();
    expect((await api.call(`/${id}/pause`, { method: "POST" })).body.version).toBe(2);
    expect(api.written()).toEqual(paused);
  });
});

describe("acknowledging an outage", () => {
  const acknowledge = (api: MonitorApi, id: string, json?: object) =>
    api.call(`/${id}/acknowledge`, { method: "POST", ...(json && { json }) });

  test("the answer, the monitor and the list say who acknowledged the outage and when, and the audit log has it", async () => {
    await using api = await createMonitorApi();
    const id = await downMonitor(api);
    expect((await api.call(`/${id}`)).body.acknowledgement).toBeNull();
    const { status, body } = await acknowledge(api, id, { note: "The provider is on it." });
    const acknowledgement = {
      at: "2026-03-10T12:01:00.000Z",
      by: { kind: "key", id: expect.stringMatching(/^key_/), label: expect.any(String) },
      note: "The provider is on it.",
    };
    expect([status, body.acknowledgement, body.version]).toEqual([200, acknowledgement, 1]);
    expect((await api.call(`/${id}`)).body.acknowledgement).toEqual(acknowledgement);
    expect((await api.call()).body.data[0].acknowledgement).toEqual(acknowledgement);
    expect(api.app.audit().at(-1)).toMatchObject({
      action: "monitor.acknowledge",
      targetId: id,
      summary: "Acknowledged the outage of the monitor “Shop”: The provider is on it.",
    });
  });

  test("repeating an acknowledgement changes nothing, and needs no body", async () => {
    await using api = await createMonitorApi();
    const id = await downMonitor(api);
    const first = (await acknowledge(api, id)).body.acknowledgement;
    expect(first.note).toBeNull();
    const before = api.written();
    await api.app.clock.advance(60_000);
    const again = await acknowledge(api, id, { note: "Me too." });
    expect([again.status, again.body.acknowledgement]).toEqual([200, first]);
    expect(api.written()).toEqual(before);
  });

  test.each(["up", "degraded"] as const)(
    "a monitor that is %s is a conflict, and its recovery has ended the acknowledgement",
    async (state) => {
      await using api = await createMonitorApi();
      const id = await downMonitor(api);
      await acknowledge(api, id);
      const { ctx, clock } = api.app;
      const enter = (from: "down" | "up" | "degraded", to: "down" | "up" | "degraded") =>
        ctx.db.write((tx) => {
          const { row } = getMonitorRecord(tx, id);
          const evaluation = newEvaluation(to, clock.now());
          applyTransition(ctx, tx, row, { from, evaluation, message: null });
        });
      await enter("down", state);
      expect((await api.call(`/${id}`)).body).toMatchObject({ state, acknowledgement: null });
      const before = api.written();
      expectProblem(await acknowledge(api, id), "conflict");
      expect(api.written()).toEqual(before);
      await clock.advance(60_000);
      await enter(state, "down");
      expect((await api.call(`/${id}`)).body).toMatchObject({
        state: "down",
        acknowledgement: null,
      });
    },
  );

  test("a pending monitor is a conflict, a deleted one is not found, and a note has one line", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create();
    expectProblem(await acknowledge(api, id), "conflict");
    const down = await downMonitor(api);
    for (const note of ["", "a\nb", "x".repeat(501), 5]) {
      // oxlint-disable-next-line no-await-in-loop
      expectProblem(await acknowledge(api, down, { note }), "validation_failed");
    }
    await api.call(`/${id}`, { method: "DELETE" });
    expectProblem(await acknowledge(api, id), "not_found");
  });

  test("events have no acknowledgement, whose author and note are not for receivers", async () => {
    await using api = await createMonitorApi();
    const id = await downMonitor(api);
    await acknowledge(api, id, { note: "Confidential." });
    const { ctx, clock } = api.app;
    await ctx.db.write((tx) =>
      warnOfExpiry(
        ctx,
        tx,
        id,
        { host: "shop.example.com", fingerprint: "f", expiresAt: clock.now() + 86_400_000 },
        clock.now(),
      ),
    );
    const warning = api.app.events().at(-1);
    expect(warning?.type).toBe("monitor.certificate_expiring");
    expect(JSON.stringify(warning)).not.toMatch(/acknowledgement|Confidential/);
  });
});

describe("deleting a monitor", () => {
  test("deleting a monitor ends its causes, keeps the component's history and makes it not_found", async () => {
    await using api = await createMonitorApi();
    const id = await downMonitor(api);
    const answer = await api.call(`/${id}`, { method: "DELETE" });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    expect(statusOf(api)).toBe("operational");
    expectProblem(await api.call(`/${id}`), "not_found");
    expectProblem(await api.call(`/${id}`, { method: "DELETE" }), "not_found");
    expect((await api.call()).body.data).toEqual([]);
    const key = await api.app.keyWith("read:status");
    const history = `/api/v1/components/${api.components["API"]}/history`;
    const { data } = (await api.app.call(history, { key })).body;
    expect(data.map(({ to }: { to: string }) => to)).toEqual(["operational", "partial_outage"]);
    expect(api.app.audit().map(({ action }) => action)).toContain("monitor.delete");
  });

  test("deleting a monitor frees its ref, and its number is not used again", async () => {
    await using api = await createMonitorApi();
    const first = await api.create();
    const { num } = getMonitorRecord(api.app.ctx.db, first.id).row;
    await api.call(`/${first.id}`, { method: "DELETE" });
    const second = await api.create();
    expect(second.ref).toBe(first.ref);
    expect(getMonitorRecord(api.app.ctx.db, second.id).row.num).toBe(num + 1);
  });
});

describe("changes of a monitor that is down", () => {
  test("a down monitor changes the statuses of components that are added and removed", async () => {
    await using api = await createMonitorApi();
    const id = await downMonitor(api);
    await api.patch(id, { component_ids: [api.components["Website"]] });
    expect(statusOf(api)).toBe("operational");
    expect(statusOf(api, "Website")).toBe("partial_outage");
  });

  test("a change of on_down applies to a down monitor at once", async () => {
    await using api = await createMonitorApi();
    const id = await downMonitor(api);
    await api.patch(id, { on_down: "major_outage" });
    expect(statusOf(api)).toBe("major_outage");
  });
});

describe("checks on demand by API", () => {
  test("a check on demand returns its result with its steps, and is first in the list of results without them", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create();
    const found = [];
    for (let i = 0; i < 3; i++) {
      await api.app.clock.advance(1_000);
      const { steps, ...check } = (await api.call(`/${id}/check`, { method: "POST" })).body;
      expect(steps).toEqual([
        { name: "look_up", duration_ms: 0, ok: true, detail: "shop.example.com: 203.0.113.5" },
      ]);
      found.push(check);
    }
    expect(found[0]).toEqual({
      at: "2026-03-10T12:00:01.000Z",
      outcome: "ok",
      latency_ms: 12,
      message: null,
    });
    const page = await api.call(`/${id}/checks?limit=2`);
    expect(page.body.data).toEqual([found[2], found[1]]);
    const link = page.headers.get("link") ?? "";
    expect(link).toStartWith(`<https://status.test/api/v1/monitors/${id}/checks?limit=2&cursor=`);
    const { data, next_cursor } = (
      await api.call(`/${id}/checks?limit=2&cursor=${page.body.next_cursor}`)
    ).body;
    expect(data).toEqual([found[0]]);
    expect(next_cursor).toBeNull();
    expectProblem(await api.call(`/${id}/checks?cursor=x`), "invalid_request");
  });

  test("a check on demand is a conflict for paused and push monitors", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ paused: true });
    const push = await api.create({ type: "push", config: {} });
    expectProblem(await api.call(`/${id}/check`, { method: "POST" }), "conflict");
    expectProblem(await api.call(`/${push.id}/check`, { method: "POST" }), "conflict");
    expect(api.checked).toEqual([]);
    await api.call(`/${id}/resume`, { method: "POST" });
    expect((await api.call(`/${id}/check`, { method: "POST" })).status).toBe(200);
    expect(api.checked).toEqual([id]);
  });
});

test("GET /monitors lists monitors newest first and filters by page, component, type and state", async () => {
  await using api = await createMonitorApi();
  const other = await api.app.page({ slug: "other", name: "Other" }, ["Mail"]);
  const { API } = api.components;
  const shop = await api.create({ component_ids: [API] });
  const mail = await api.create({ name: "Mail", component_ids: [other.components["Mail"]] });
  const job = await api.create({ name: "Job", type: "push", config: {}, paused: true });
  const names = async (query = "") =>
    (await api.call(query)).body.data.map(({ id }: { id: string }) => id);
  expect(await names()).toEqual([job.id, mail.id, shop.id]);
  expect(await names("?page=other")).toEqual([mail.id]);
  expect(await names(`?component=${API}`)).toEqual([shop.id]);
  expect(await names("?type=push")).toEqual([job.id]);
  expect(await names("?state=pending")).toEqual([mail.id, shop.id]);
  const first = await api.call("?limit=2&state=pending");
  expect(first.body.next_cursor).toBeNull();
  const page = await api.call("?limit=1&type=http");
  expect(page.headers.get("link")).toContain("type=http&cursor=");
  expect(await names(`?limit=1&type=http&cursor=${page.body.next_cursor}`)).toEqual([shop.id]);
  for (const query of ["?page=none", "?component=none", "?state=fine", "?type=x", "?q=1"]) {
    expectProblem(await api.call(query), "invalid_request");
  }
});
