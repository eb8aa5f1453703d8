import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../../src/base/time";
import { ALERT_PRESETS } from "../../../../src/features/monitors/screens/alert-fields";
import { listAlertsOf } from "../../../../src/features/monitors/alerts/alert-store";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { alertmanagerBody, type AlertSite, openAlertSite } from "../../../support/alert-reports";
import { expectProblem } from "../../../support/app";
import datadog from "./fixtures/datadog.json";
import gatus from "./fixtures/gatus.json";
import grafana from "./fixtures/grafana.json";
import kuma from "./fixtures/uptime-kuma.json";

const alertsOf = ({ app }: AlertSite, id: string) =>
  listAlertsOf(app.ctx.db, { monitorNum: getMonitorRecord(app.ctx.db, id).row.num });

describe("bodies of senders", () => {
  test("a body of Grafana opens and ends alerts of the monitors of its format, and no others", async () => {
    await using site = await openAlertSite();
    const other = await site.monitor();
    const { id } = await site.monitor(
      { format: "grafana", match: ['severity="critical"'] },
      { name: "Grafana" },
    );
    await site.clock.advance(HOUR_MS);
    const answer = await site.report(grafana);
    expect(answer.body).toEqual({ alerts: 2, matched: 1, monitors: [id] });
    expect([site.state(other.id), site.state(id)]).toEqual(["pending", "down"]);
    expect(alertsOf(site, id)).toMatchObject([
      { fingerprint: "c6eadffa33fcdf37", title: "Orders fail", level: "down" },
    ]);
    const ended = grafana.alerts.map((alert) => ({ ...alert, status: "resolved" }));
    await site.report({ ...grafana, alerts: ended });
    expect(site.state(id)).toBe("up");
  });

  const ENDED = {
    "uptime-kuma": { ...kuma, heartbeat: { ...kuma.heartbeat, status: 1 } },
    gatus: { ...gatus, status: "RESOLVED" },
    datadog: { ...datadog, transition: "Recovered" },
  };
  const LABELS = {
    "uptime-kuma": { monitor: "Checkout", type: "http" },
    gatus: { group: "core", endpoint: "checkout" },
    datadog: { alert: "1234", priority: "P1", scope: "host:web-1" },
  };

  test.each([
    ["uptime-kuma", kuma],
    ["gatus", gatus],
    ["datadog", datadog],
  ] as const)("the mapping that the form offers for %s reads its body", async (preset, body) => {
    await using site = await openAlertSite();
    const mapping = ALERT_PRESETS[preset]?.mapping;
    const { id, token } = await site.monitor({ format: "json", mapping });
    const first = await site.reportTo(token, body, { headers: { "content-type": "text/plain" } });
    expect(first.body).toEqual({ ok: true, alerts: 1, matched: 1, monitors: [id] });
    expect(site.state(id)).toBe("down");
    expect(alertsOf(site, id)).toMatchObject([{ labels: LABELS[preset] }]);
    await site.reportTo(token, ENDED[preset]);
    expect(site.state(id)).toBe("up");
  });

  test("a notification of Uptime Kuma that is only a test is taken and opens nothing", async () => {
    await using site = await openAlertSite();
    const mapping = ALERT_PRESETS["uptime-kuma"]?.mapping;
    const { id, token } = await site.monitor({ format: "json", mapping });
    const body = { heartbeat: null, monitor: null, msg: "Test" };
    expect((await site.reportTo(token, body)).body).toMatchObject({ alerts: 0, matched: 0 });
    expect(site.state(id)).toBe("up");
  });

  test("a mapping reads lists, numbers, times and missing parts", async () => {
    await using site = await openAlertSite();
    const mapping = {
      alerts: "$.data.items[*]",
      fingerprint: "$.id",
      status: { path: "$.on", firing: ["true"], resolved: ["false"] },
      started_at: "$.since",
      title: "$.missing",
      labels: { service: "$.tags[0]" },
    };
    const { id, token } = await site.monitor({ format: "json", mapping });
    await site.clock.advance(HOUR_MS);
    const now = site.clock.now();
    const items = [
      { id: 1, on: true, since: Math.floor(now / 1000) - 600, tags: ["shop"] },
      {
        id: 2,
        on: true,
        since: new Date(now - 900_000).toISOString().replace("T", " ").slice(0, 19),
      },
      { id: 3, on: "maybe" },
      { on: true },
      "text",
    ];
    expect((await site.reportTo(token, { data: { items } })).body).toMatchObject({ alerts: 2 });
    // Without a fingerprint, the labels tell which alert has ended.
    const search = { tags: ["search"] };
    for (const [on, open] of [
      [true, 3],
      [false, 2],
    ] as const) {
      await site.reportTo(token, { data: { items: [{ ...search, on }] } });
      expect(alertsOf(site, id)).toHaveLength(open);
    }
    expect(alertsOf(site, id)).toMatchObject([
      { fingerprint: "2", startedAt: now - 900_000, title: "2", labels: {} },
      { fingerprint: "1", startedAt: now - 600_000, title: "1", labels: { service: "shop" } },
    ]);
    // A body without the list has no alerts.
    expect((await site.reportTo(token, {})).body).toMatchObject({ alerts: 0 });
  });

  test("labels are stored up to 4 KB and without secrets, and an alert without a fingerprint has that of its labels", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor({ match: ['note=~"x+"'] });
    const note = "x".repeat(5_000);
    const authorization = `Bearer ${site.sender}`;
    await site.report(alertmanagerBody({ labels: { note, authorization, b: "2", a: "1" } }));
    await site.report(alertmanagerBody({ labels: { a: "1", b: "2", authorization, note } }));
    const [row, ...more] = alertsOf(site, id);
    expect(more).toEqual([]);
    expect(row?.labels).toMatchObject({ a: "1", b: "2" });
    expect(JSON.stringify(row)).not.toContain(site.sender);
    expect(Buffer.byteLength(JSON.stringify(row?.labels))).toBeLessThanOrEqual(4_096);
    expect(site.state(id)).toBe("down");
  });
});

test("an alert with tens of thousands of labels and a title of a megabyte is read as far as is kept", async () => {
  await using site = await openAlertSite();
  const { id } = await site.monitor({ match: ['service="checkout"'] });
  const labels = {
    service: "checkout",
    ...Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`a${index}`, "x"])),
  };
  const answer = await site.report(alertmanagerBody({ labels }));
  expect(answer.body).toMatchObject({ alerts: 1, matched: 1, monitors: [id] });
  const [row] = alertsOf(site, id);
  expect(row?.labels).toMatchObject({ a0: "x" });
  expect(Buffer.byteLength(JSON.stringify(row?.labels))).toBeLessThanOrEqual(4_096);
  const summary = "&code=1".repeat(140_000);
  const titled = { labels: { service: "checkout" }, annotations: { summary } };
  expect((await site.report(alertmanagerBody(titled))).status).toBe(200);
  expect(alertsOf(site, id).map(({ title }) => title.length)).toContain(250);
});

test("of the open alerts of a monitor, the newest ten thousand are kept", async () => {
  await using site = await openAlertSite();
  const { id } = await site.monitor();
  const bodyOf = (first: number, count: number) => ({
    version: "4",
    alerts: Array.from({ length: count }, (_, index) => ({
      status: "firing",
      fingerprint: `f${first + index}`,
    })),
  });
  await site.report(bodyOf(0, 3_000));
  await site.clock.advance(HOUR_MS);
  expect((await site.report(bodyOf(3_000, 9_000))).body.matched).toBe(9_000);
  const kept = alertsOf(site, id).map(({ fingerprint }) => Number(fingerprint.slice(1)));
  expect(kept).toHaveLength(10_000);
  expect(kept.filter((number) => number >= 3_000)).toHaveLength(9_000);
});

test("a body of thousands of alerts is stored in pieces and judged as a whole", async () => {
  await using site = await openAlertSite();
  const { id } = await site.monitor({ match: [] });
  await site.monitor({ match: ['service="other"'] }, { name: "Other alerts" });
  const alertOf = (number: number, status: "firing" | "resolved" = "firing") => ({
    labels: {},
    status,
    fingerprint: `f${number}`,
  });
  await site.report(alertmanagerBody(alertOf(0)));
  const before = site.timeline(id);
  const many = Array.from({ length: 6_000 }, (_, number) =>
    alertOf(number, number === 5_999 ? "firing" : "resolved"),
  );
  const body = { version: "4", groupKey: "{}", alerts: many };
  expect((await site.report(body)).body).toEqual({ alerts: 6_000, matched: 6_000, monitors: [id] });
  expect(alertsOf(site, id).map(({ fingerprint }) => fingerprint)).toEqual(["f5999"]);
  // The end of the first alert and the beginning of the last are one report.
  expect(site.timeline(id)).toEqual(before);
  await site.report(alertmanagerBody(alertOf(5_999, "resolved")));
  expect(site.state(id)).toBe("up");
});

describe("the configuration of an alert monitor", () => {
  test("thresholds, slowness, inversion and an interval cannot be set", async () => {
    await using site = await openAlertSite();
    const create = (more: object) =>
      site.app.call("/api/v1/monitors", {
        method: "POST",
        key: site.key,
        json: { type: "alert", name: "A", config: { format: "grafana" }, ...more },
      });
    for (const more of [
      { failure_threshold: 2 },
      { success_threshold: 2 },
      { degraded_after_ms: 100 },
      { inverted: true },
      { interval_seconds: 60 },
    ]) {
      const answer = await create(more);
      expectProblem(answer, "validation_failed");
      expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
        `#/${Object.keys(more)[0]}`,
      ]);
    }
    const made = await create({ failure_threshold: 1, interval_seconds: null });
    expect(made.body).toMatchObject({
      interval_seconds: null,
      failure_threshold: 1,
      config: { format: "grafana", match: [], degraded: [], stale_after_seconds: 18_000 },
    });
    expect(made.body.token).toHaveLength(43);
    expect(made.body.heartbeat_url).toEndWith(made.body.token);
  });

  test("a mapping is needed for json, and only for it; matchers and paths are examined", async () => {
    await using site = await openAlertSite();
    const mapping = ALERT_PRESETS["gatus"]?.mapping;
    const errorsOf = async (config: object) => {
      const json = { type: "alert", name: "A", config };
      const answer = await site.app.call("/api/v1/monitors", {
        method: "POST",
        key: site.key,
        json,
      });
      expect(answer.status).toBe(422);
      return answer.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    };
    expect(await errorsOf({ format: "json" })).toEqual(["#/config/mapping"]);
    expect(await errorsOf({ format: "grafana", mapping })).toEqual(["#/config/mapping"]);
    expect(await errorsOf({ format: "grafana", match: ["a=b", "nothing"] })).toEqual([
      "#/config/match/1",
    ]);
    expect(await errorsOf({ format: "json", mapping: { ...mapping, alerts: "$.items" } })).toEqual([
      "#/config/mapping/alerts",
    ]);
    expect(
      await errorsOf({ format: "json", mapping: { ...mapping, labels: { a: "$..b" } } }),
    ).toEqual(["#/config/mapping/labels/a"]);
  });
});
