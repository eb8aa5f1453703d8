import { describe, expect, test } from "bun:test";
import { intervalsOf } from "../../../src/features/monitors/wire";
import { probeOf } from "../../../src/features/monitors/probes";
import { SUPPORTED_TYPES } from "../../../src/base/status";
import { createMonitorApi, HTTP } from "../../support/monitor-api";
import { MONITOR_CONFIGS } from "../../support/monitor-configs";
import { usePingProgram } from "../../support/ping-program";

describe("POST /monitors", () => {
  for (const type of SUPPORTED_TYPES) {
    test(`POST /monitors creates a pending ${type} monitor with all defaults`, async () => {
      using _ping = usePingProgram("exit 1");
      await using api = await createMonitorApi();
      const [config] = MONITOR_CONFIGS[type];
      const { present, isReported } = probeOf(type);
      const answer = await api.post({ type, name: "Shop", config });
      expect(answer.status).toBe(201);
      const { body } = answer;
      expect(body).toMatchObject({
        ref: "shop",
        name: "Shop",
        type,
        config: present(config),
        component_ids: [],
        interval_seconds: isReported ? null : intervalsOf(type).default,
        timeout_ms: 10_000,
        failure_threshold: ["push", "alert", "upstream"].includes(type) ? 1 : 3,
        success_threshold: 1,
        retry_interval_seconds: intervalsOf(type).retry,
        degraded_after_ms: null,
        on_down: "partial_outage",
        open_incident: "never",
        paused: false,
        state: "pending",
        state_since: "2026-03-10T12:00:00.000Z",
        last_check: null,
        version: 1,
      });
      expect(answer.headers.get("etag")).toBe('"1"');
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const path = `/api/v1/monitors/${body.id}`;
      expect(answer.headers.get("location")).toBe(`https://status.test${path}`);
      const { token: _token, heartbeat_url: _url, ...shown } = body;
      expect((await api.call(`/${body.id}`)).body).toEqual(shown);
      expect(api.app.audit().at(-1)).toMatchObject({
        action: "monitor.create",
        targetId: body.id,
        actorKind: "key",
      });
    });
  }

  test("POST /monitors accepts every setting and components of several pages", async () => {
    await using api = await createMonitorApi();
    const other = await api.app.page({ slug: "other", name: "Other" }, ["Mail"]);
    const settings = {
      component_ids: [api.components["API"], other.components["Mail"]],
      interval_seconds: 5,
      timeout_ms: 60_000,
      failure_threshold: 1,
      success_threshold: 2,
      retry_interval_seconds: 1,
      degraded_after_ms: 800,
      on_down: "major_outage",
      open_incident: "automatic",
      paused: true,
    };
    const monitor = await api.create(settings);
    expect(monitor).toMatchObject({ ...settings, state: "paused" });
  });

  test("a timeout of up to 300 seconds is accepted if the interval is as long, and one of 60 seconds always", async () => {
    await using api = await createMonitorApi();
    for (const [interval_seconds, timeout_ms] of [
      [300, 300_000],
      [90, 90_000],
      [5, 60_000],
    ]) {
      const { id } = await api.create({ interval_seconds, timeout_ms });
      expect((await api.call(`/${id}`)).body).toMatchObject({ interval_seconds, timeout_ms });
      const shorter = await api.patch(id, { interval_seconds: 70, timeout_ms: 80_000 });
      expect(shorter.body.errors).toEqual([
        {
          pointer: "#/timeout_ms",
          detail: "must be at most 70000, or the interval must be longer",
        },
      ]);
    }
  });

  test("a new monitor with a short interval has a retry interval of the same length", async () => {
    await using api = await createMonitorApi();
    expect((await api.create({ interval_seconds: 5 })).retry_interval_seconds).toBe(5);
  });

  test("POST /monitors gives each monitor a unique ref", async () => {
    await using api = await createMonitorApi();
    const refs = [];
    for (const name of ["Shop", "shop!", "Shop", "店", "店"]) {
      refs.push((await api.create({ name })).ref);
    }
    expect(refs).toEqual(["shop", "shop-2", "shop-3", "http", "http-2"]);
  });

  test("a created monitor emits monitorsChanged once, and a rejected one does not", async () => {
    await using api = await createMonitorApi();
    let woken = 0;
    api.app.ctx.signals.monitorsChanged.on(() => (woken += 1));
    expect((await api.post({ ...HTTP, name: "" })).status).toBe(422);
    expect(woken).toBe(0);
    await api.create();
    expect(woken).toBe(1);
  });
});

describe("an Idempotency-Key", () => {
  test("twenty concurrent requests with one Idempotency-Key create one monitor and show its token once", async () => {
    await using api = await createMonitorApi();
    const body = { type: "push", name: "Backup" };
    const headers = { "idempotency-key": "one" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post(body, headers)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    const shown = answers.filter((answer) => answer.body.token !== null);
    expect(shown).toHaveLength(1);
    expect(shown[0]?.body.heartbeat_url).toBe(
      `https://status.test/api/v1/heartbeats/${shown[0]?.body.token}`,
    );
    for (const answer of answers.filter((one) => one !== shown[0])) {
      expect(answer.headers.get("idempotency-replayed")).toBe("true");
      expect(answer.body).toMatchObject({ token: null, heartbeat_url: null });
    }
    expect((await api.call()).body.data).toHaveLength(1);
  });
});
