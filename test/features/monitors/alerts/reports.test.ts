import { describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import { ofMonitors } from "../../../../src/features/monitors/checks-store";
import {
  listAlertsOf,
  listUnmatchedAlerts,
} from "../../../../src/features/monitors/alerts/alert-store";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { alertmanagerBody, openAlertSite, type AlertSite } from "../../../support/alert-reports";
import { expectProblem } from "../../../support/app";
import { formOf } from "../../../support/monitor-dashboard";

const CRITICAL = { labels: { alertname: "Errors", service: "checkout", severity: "critical" } };
const WARNING = { labels: { alertname: "Slow", service: "checkout", severity: "warning" } };
const OTHER = { labels: { alertname: "Errors", service: "search", severity: "critical" } };

const MATCH = {
  match: ['service="checkout"', 'severity=~"critical|page"'],
  degraded: ['service="checkout"', 'severity="warning"'],
};

const resolved = <Alert extends object>(alert: Alert) => ({
  ...alert,
  status: "resolved" as const,
});

/** Number of results of a monitor. */
function checksOf({ app }: AlertSite, id: string): number {
  const { num: monitorNum } = getMonitorRecord(app.ctx.db, id).row;
  return ofMonitors.listChecksBefore(app.ctx.db, { monitorNum, before: Infinity, limit: 1_000 })
    .length;
}

describe("the state of an alert monitor", () => {
  test("it is pending until the first body of its sender, and then up, degraded or down by its open alerts", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor(MATCH);
    expect(site.state(id)).toBe("pending");
    const first = await site.report(alertmanagerBody(OTHER));
    expect(first.body).toEqual({ alerts: 1, matched: 0, monitors: [] });
    expect(site.state(id)).toBe("up");
    const second = await site.report(alertmanagerBody(CRITICAL, WARNING, OTHER));
    expect(second.body).toEqual({ alerts: 3, matched: 2, monitors: [id] });
    expect(site.state(id)).toBe("down");
    await site.report(alertmanagerBody(resolved(CRITICAL)));
    expect(site.state(id)).toBe("degraded");
    await site.report(alertmanagerBody(resolved(WARNING)));
    expect(site.state(id)).toBe("up");
    expect(site.timeline(id).map((span) => span.split(" ")[0])).toContain("down");
  });

  test("an outage begins when its alert did: never in the future, a day back at most, and not before the monitor", async () => {
    await using site = await openAlertSite();
    const { clock } = site;
    const { id } = await site.monitor(MATCH);
    await clock.advance(HOUR_MS);
    await site.report(alertmanagerBody());
    const startsAt = toIso(clock.now());
    await clock.advance(5 * MINUTE_MS);
    await site.report(alertmanagerBody({ ...CRITICAL, startsAt }));
    expect(site.timeline(id).at(-1)).toBe("down 3600");
    await clock.advance(MINUTE_MS);
    await site.report(alertmanagerBody(resolved(CRITICAL)));
    await clock.advance(MINUTE_MS);
    await site.report(alertmanagerBody({ ...CRITICAL, startsAt: toIso(clock.now() + HOUR_MS) }));
    expect(site.timeline(id).at(-1)).toBe(`down ${3_600 + 7 * 60}`);
    const late = await site.monitor({ match: ['service="search"'] }, { name: "Search" });
    await site.report(alertmanagerBody({ ...OTHER, startsAt: "2020-01-01T00:00:00Z" }));
    expect(site.timeline(late.id)).toEqual([`down ${3_600 + 7 * 60}`]);
  });

  test("a report that is repeated changes nothing, and writes the time at most once a minute", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor(MATCH, { open_incident: "automatic" });
    await site.report(alertmanagerBody(CRITICAL));
    const before = { events: site.app.events().length, checks: checksOf(site, id) };
    for (let round = 0; round < 20; round += 1) {
      await site.clock.advance(20 * SECOND_MS);
      const again = await site.report(alertmanagerBody(CRITICAL));
      expect(again.body).toEqual({ alerts: 1, matched: 1, monitors: [id] });
    }
    expect({ events: site.app.events().length, checks: checksOf(site, id) }).toEqual(before);
    expect(site.state(id)).toBe("down");
  });

  test("an alert that is missing from a later body has not ended", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor(MATCH);
    await site.report(alertmanagerBody(CRITICAL, WARNING));
    await site.report(alertmanagerBody(resolved(WARNING)));
    await site.report(alertmanagerBody());
    expect(site.state(id)).toBe("down");
  });

  test("one sender never ends the alert of another, and a monitor's own token is a sender", async () => {
    await using site = await openAlertSite();
    const { id, token } = await site.monitor(MATCH);
    const other = await site.app.keyWith("write:components");
    await site.report(alertmanagerBody(CRITICAL));
    await site.report(alertmanagerBody(resolved(CRITICAL)), { key: other });
    await site.reportTo(token, alertmanagerBody(resolved(CRITICAL)));
    expect(site.state(id)).toBe("down");
    await site.reportTo(token, alertmanagerBody(CRITICAL));
    await site.report(alertmanagerBody(resolved(CRITICAL)));
    expect(site.state(id)).toBe("down");
    const answer = await site.reportTo(token, alertmanagerBody(resolved(CRITICAL)));
    expect(answer.body).toEqual({ ok: true, alerts: 1, matched: 1, monitors: [id] });
    expect(site.state(id)).toBe("up");
  });

  test("a change of the matchers judges the open alerts again", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor(MATCH);
    await site.report(alertmanagerBody(CRITICAL));
    const change = async (config: object) => {
      const path = `/api/v1/monitors/${id}`;
      await site.app.call(path, { method: "PATCH", key: site.key, json: { config } });
      await site.clock.advance(SECOND_MS);
      return site.state(id);
    };
    expect(await change({ match: ['service="search"'], degraded: ['alertname="Errors"'] })).toBe(
      "degraded",
    );
    expect(await change({ degraded: null })).toBe("up");
    // It matches nothing, which a further report says, and people see.
    const { body } = await site.report(alertmanagerBody(CRITICAL));
    expect(body).toEqual({ alerts: 1, matched: 0, monitors: [] });
    const session = await site.app.signedIn("viewer");
    expect((await site.app.call("/admin/monitors/alerts", { session })).text).toContain("Errors");
    expect(await change(MATCH)).toBe("down");
    expect((await site.report(alertmanagerBody(CRITICAL))).body).toMatchObject({ matched: 1 });
  });

  test("a report beside a change of the matchers, or a deletion, counts by what is stored then", async () => {
    for (const isFirst of [true, false]) {
      await using site = await openAlertSite();
      const { id } = await site.monitor(MATCH);
      const other = await site.monitor(MATCH, { name: "Other" });
      const { num: monitorNum } = getMonitorRecord(site.app.ctx.db, other.id).row;
      const path = `/api/v1/monitors/${id}`;
      const json = { config: { match: ['service="search"'], degraded: ['service="checkout"'] } };
      const change = async () => [
        site.app.call(path, { method: "PATCH", key: site.key, json }),
        site.app.call(`/api/v1/monitors/${other.id}`, { method: "DELETE", key: site.key }),
      ];
      const changing = isFirst ? await change() : [];
      const reporting = site.report(alertmanagerBody(CRITICAL));
      const all = [...changing, ...(isFirst ? [] : await change())];
      expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 204]);
      expect((await reporting).status).toBe(200);
      await site.clock.advance(SECOND_MS);
      expect(site.state(id)).toBe("degraded");
      expect(listAlertsOf(site.app.ctx.db, { monitorNum })).toEqual([]);
    }
  });

  test("reports are stored while the monitor is paused, and judged when it is resumed", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor(MATCH);
    const post = (verb: string) =>
      site.app.call(`/api/v1/monitors/${id}/${verb}`, { method: "POST", key: site.key });
    await post("pause");
    await site.report(alertmanagerBody(CRITICAL));
    expect(site.state(id)).toBe("paused");
    await site.clock.advance(HOUR_MS);
    await post("resume");
    await site.clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("down");
    expect(site.timeline(id).at(-1)).toBe("down 3600");
  });

  test("an outage during maintenance begins at the end of the maintenance", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor(MATCH);
    await site.report(alertmanagerBody());
    const key = await site.app.keyWith("write:maintenance");
    const call = (path: string, json: object) => site.app.call(path, { method: "POST", key, json });
    const { clock } = site;
    const planned = await call("/api/v1/maintenance", {
      page: "acme",
      name: "Upgrade",
      scheduled_for: toIso(clock.now() + MINUTE_MS),
      scheduled_until: toIso(clock.now() + HOUR_MS),
      components: [site.components["Checkout"]],
      body: "We upgrade.",
    });
    expect(planned.status).toBe(201);
    await call(`/api/v1/maintenance/${planned.body.id}/updates`, {
      status: "in_progress",
      body: "Begun.",
    });
    await clock.advance(MINUTE_MS);
    expect(site.state(id)).toBe("maintenance");
    await site.report(alertmanagerBody({ ...CRITICAL, startsAt: toIso(clock.now()) }));
    expect(site.state(id)).toBe("maintenance");
    await clock.advance(10 * MINUTE_MS);
    await call(`/api/v1/maintenance/${planned.body.id}/updates`, {
      status: "completed",
      body: "Done.",
    });
    await clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("down");
    expect(Number(site.timeline(id).at(-1)?.split(" ")[1])).toBeGreaterThan(600);
  });

  test("while a parent fails, the monitor is unreachable, and afterwards judged by its alerts", async () => {
    await using site = await openAlertSite();
    const json = { type: "push", name: "Gateway", config: {} };
    const parent = await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
    const { id } = await site.monitor(MATCH, { depends_on: [parent.body.id] });
    const beat = (query: string) =>
      site.app.call(`/api/v1/heartbeats/${parent.body.token}${query}`);
    await beat("?status=down");
    await site.report(alertmanagerBody(CRITICAL));
    expect(site.state(id)).toBe("unreachable");
    await beat("");
    await site.clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("down");
  });

  test("after kill -9 between the report and its judgement, the next start judges", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor(MATCH);
    await site.report(alertmanagerBody());
    await site.restart();
    expect(site.state(id)).toBe("up");
    await site.report(alertmanagerBody(CRITICAL));
    await site.restart(HOUR_MS);
    expect(site.state(id)).toBe("down");
    expect(site.timeline(id).map((span) => span.split(" ")[0])).not.toContain("no_data");
  });
});

describe("an alert without a further report", () => {
  test("it is dropped after stale_after_seconds; was it the last, the monitor has no data and the team is told once", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor({ ...MATCH, stale_after_seconds: 600 });
    await site.report(alertmanagerBody(CRITICAL));
    await site.clock.advance(9 * MINUTE_MS);
    await site.report(alertmanagerBody(CRITICAL));
    await site.clock.advance(9 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("no_data");
    const alarms = () =>
      site.app.events().filter(({ data }) => data["kind"] === "alerts_stale").length;
    await site.clock.advance(MINUTE_MS);
    expect(alarms()).toBe(1);
    await site.restart();
    expect(site.state(id)).toBe("no_data");
    // Another alert of the sender says nothing about it.
    await site.report(alertmanagerBody(OTHER));
    expect(site.state(id)).toBe("no_data");
    expect(alarms()).toBe(1);
    await site.report(alertmanagerBody(resolved(CRITICAL)));
    expect(site.state(id)).toBe("up");
    await site.clock.advance(MINUTE_MS);
    expect(alarms()).toBe(2);
  });

  test("one that is reported more often than its last report is noted does not become stale", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor({ ...MATCH, stale_after_seconds: 60 });
    await site.report(alertmanagerBody(CRITICAL));
    const before = site.timeline(id);
    expect(site.state(id)).toBe("down");
    for (let report = 0; report < 8; report += 1) {
      await site.clock.advance(50 * SECOND_MS);
      await site.report(alertmanagerBody(CRITICAL));
    }
    expect(site.timeline(id)).toEqual(before);
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("no_data");
  });

  test("one that is not the last is dropped without a word", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor({ ...MATCH, stale_after_seconds: 600 });
    await site.report(alertmanagerBody(CRITICAL, WARNING));
    await site.clock.advance(9 * MINUTE_MS);
    await site.report(alertmanagerBody(WARNING));
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("degraded");
    await site.report(alertmanagerBody(resolved(WARNING)));
    expect(site.state(id)).toBe("up");
    expect(site.open(id)).toEqual([]);
  });

  test("one that is reported again with another that is new stays open", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor({ ...MATCH, stale_after_seconds: 600 });
    await site.report(alertmanagerBody(CRITICAL, WARNING));
    await site.clock.advance(9 * MINUTE_MS);
    await site.report(alertmanagerBody(WARNING));
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("degraded");
    const fresh = { labels: { ...WARNING.labels, alertname: "Fresh" } };
    await site.report(alertmanagerBody(CRITICAL, fresh));
    expect(site.state(id)).toBe("down");
    expect(site.open(id).toSorted()).toEqual(["Errors", "Fresh", "Slow"]);
  });

  test("the time in which this server was offline does not count", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor({ ...MATCH, stale_after_seconds: 600 });
    await site.report(alertmanagerBody(CRITICAL));
    await site.restart(HOUR_MS);
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    await site.clock.advance(6 * MINUTE_MS);
    expect(site.state(id)).toBe("no_data");
  });

  test("while the watchdog is down and no alert is open, the monitor has no data", async () => {
    await using site = await openAlertSite();
    const json = {
      type: "push",
      name: "Watchdog",
      interval_seconds: 60,
      config: { grace_seconds: 0 },
    };
    const dog = await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
    const { id } = await site.monitor({ ...MATCH, watchdog: dog.body.ref });
    const bark = () => site.app.call(`/api/v1/heartbeats/${dog.body.token}`);
    await bark();
    await site.report(alertmanagerBody());
    expect(site.state(id)).toBe("up");
    await site.clock.advance(2 * MINUTE_MS);
    expect([site.state(dog.body.id), site.state(id)]).toEqual(["down", "no_data"]);
    await site.report(alertmanagerBody(CRITICAL));
    expect(site.state(id)).toBe("down");
    await site.report(alertmanagerBody(resolved(CRITICAL)));
    expect(site.state(id)).toBe("no_data");
    await bark();
    await site.clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("up");
  });
});

test("without an open alert, a monitor whose watchdog does not exist has no data", async () => {
  await using site = await openAlertSite();
  const { id } = await site.monitor({ ...MATCH, watchdog: "no-such-monitor" });
  await site.report(alertmanagerBody());
  expect(site.state(id)).toBe("no_data");
  await site.report(alertmanagerBody(CRITICAL));
  expect(site.state(id)).toBe("down");
});

describe("requests with alerts", () => {
  test("a key needs write:components, and moves nothing but alert monitors", async () => {
    await using site = await openAlertSite();
    const json = { type: "push", name: "Job", config: {} };
    const job = await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
    const reader = await site.app.keyWith("read:status");
    expectProblem(
      await site.report(alertmanagerBody(CRITICAL), { key: reader }),
      "insufficient_scope",
    );
    await site.report(alertmanagerBody(CRITICAL));
    expect(site.state(job.body.id)).toBe("pending");
  });

  test("another shape than that of Alertmanager or Grafana is refused, and so is one of another format", async () => {
    await using site = await openAlertSite();
    const { token } = await site.monitor({ format: "grafana" });
    for (const body of [{}, [], { alerts: [] }, { alerts: {} }, "text", null]) {
      expectProblem(await site.report(body), "validation_failed");
    }
    expectProblem(await site.reportTo(token, alertmanagerBody(CRITICAL)), "validation_failed");
    expectProblem(
      await site.report(undefined, { raw: "{", headers: { "content-type": "application/json" } }),
      "invalid_request",
    );
  });

  test("a token of an alert monitor takes alerts by POST, also as bearer, and neither heartbeats nor signals", async () => {
    await using site = await openAlertSite();
    const { id, token } = await site.monitor(MATCH);
    const path = `/api/v1/heartbeats/${token}`;
    expectProblem(await site.app.call(path), "conflict");
    expectProblem(await site.app.call(`${path}/fail`), "conflict");
    const json = alertmanagerBody(CRITICAL);
    expectProblem(await site.app.call(`${path}/start`, { method: "POST", json }), "conflict");
    const bearer = await site.app.call("/api/v1/heartbeats", { method: "POST", key: token, json });
    expect(bearer.body).toMatchObject({ ok: true, matched: 1 });
    expectProblem(
      await site.app.call(`/api/v1/monitors/${id}/check`, { method: "POST", key: site.key }),
      "conflict",
    );
  });

  test("a body may have a megabyte, and is refused beyond", async () => {
    await using site = await openAlertSite();
    const { id, token } = await site.monitor(MATCH);
    const padded = (length: number) =>
      alertmanagerBody({ ...CRITICAL, annotations: { summary: "x".repeat(length) } });
    expect((await site.report(padded(1_000_000))).status).toBe(200);
    expect((await site.reportTo(token, padded(1_000_000))).status).toBe(200);
    expectProblem(await site.report(padded(1_100_000)), "payload_too_large");
    expectProblem(await site.reportTo(token, padded(1_100_000)), "payload_too_large");
    expect(site.open(id).every((title) => title.length <= 300)).toBe(true);
  });

  test("a sender has 1,200 bodies a minute apart from its other requests, and 503 with Retry-After beyond", async () => {
    await using site = await openAlertSite();
    const { token } = await site.monitor(MATCH);
    for (let count = 0; count < 1_200; count += 1) {
      const answer = await site.app.call("/api/v1/alerts", {
        method: "POST",
        key: site.sender,
        json: {},
      });
      if (answer.status !== 422) expect(answer.status).toBe(422);
    }
    const refused = await site.report(alertmanagerBody());
    expectProblem(refused, "unavailable");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await site.reportTo(token, alertmanagerBody())).status).toBe(200);
    await site.clock.advance(MINUTE_MS);
    expect((await site.report(alertmanagerBody())).status).toBe(200);
  });

  test("alerts that matched nothing are kept, the last 100 of 7 days, and tests of Grafana are marked", async () => {
    await using site = await openAlertSite();
    await site.monitor(MATCH);
    const many = Array.from({ length: 130 }, (_, index) => ({
      labels: { alertname: `A${index}` },
    }));
    await site.report(alertmanagerBody(...many));
    const kept = () => listUnmatchedAlerts(site.app.ctx.db, { since: 0, limit: 1_000 });
    expect(kept()).toHaveLength(100);
    await site.clock.advance(MINUTE_MS);
    const test = {
      ...alertmanagerBody({ labels: { alertname: "TestAlert" } }),
      version: "1",
      orgId: 1,
    };
    await site.monitor({ format: "grafana" }, { name: "All of Grafana" });
    const answer = await site.report(test);
    expect(answer.body).toMatchObject({ alerts: 1, matched: 0 });
    expect(kept()[0]).toMatchObject({ isTest: true, title: "TestAlert", format: "grafana" });
    expect(kept()).toHaveLength(100);
    site.clock.setWallClock(site.clock.now() + 8 * 24 * HOUR_MS);
    await site.report(alertmanagerBody(OTHER));
    expect(kept().map(({ title }) => title)).toEqual(["Errors"]);
  });

  test("alerts of Grafana about its own data sources match only where a matcher names them", async () => {
    await using site = await openAlertSite();
    const all = await site.monitor({ format: "grafana" }, { name: "All" });
    const named = await site.monitor(
      { format: "grafana", match: ['alertname=~"DatasourceError|Errors"'] },
      { name: "Named" },
    );
    const body = { ...alertmanagerBody({ labels: { alertname: "DatasourceError" } }), orgId: 1 };
    expect((await site.report(body)).body.monitors).toEqual([named.id]);
    expect([site.state(all.id), site.state(named.id)]).toEqual(["up", "down"]);
  });
});

test("the incident that follows is the monitor's, names no text of an alert, and is resolved with it", async () => {
  await using site = await openAlertSite();
  const { id } = await site.monitor(MATCH, { open_incident: "automatic", on_down: "major_outage" });
  await site.report(alertmanagerBody());
  await site.clock.advance(MINUTE_MS);
  const secret = { summary: "db-7.internal refuses connections" };
  await site.report(alertmanagerBody({ ...CRITICAL, annotations: secret }));
  await site.clock.advance(MINUTE_MS);
  const key = await site.app.keyWith("read:status");
  const incidents = async () =>
    (await site.app.call("/api/v1/incidents?page=acme", { key })).body.data;
  expect(await incidents()).toMatchObject([
    { name: "Checkout is unavailable", status: "investigating" },
  ]);
  expect(JSON.stringify(await incidents())).not.toContain("db-7");
  for (const path of ["/status/acme", "/api/v1/status/acme", "/status/acme/feed.atom"]) {
    const { status, text } = await site.app.call(path, { key });
    expect([path, status]).toEqual([path, 200]);
    expect(text).not.toContain("db-7");
  }
  expect(site.open(id)).toEqual([secret.summary]);
  await site.report(alertmanagerBody(resolved(CRITICAL)));
  await site.clock.advance(MINUTE_MS);
  expect(await incidents()).toMatchObject([{ status: "resolved" }]);
});

test("the incident of an alert that is not repeated stays open until a person says that nothing is firing", async () => {
  await using site = await openAlertSite();
  const more = { open_incident: "automatic", on_down: "major_outage" };
  const { id } = await site.monitor({ ...MATCH, stale_after_seconds: 600 }, more);
  await site.report(alertmanagerBody(CRITICAL));
  await site.clock.advance(HOUR_MS);
  expect(site.state(id)).toBe("no_data");
  const key = await site.app.keyWith("read:status");
  const statuses = async () => {
    const { body } = await site.app.call("/api/v1/incidents?page=acme", { key });
    return body.data.map(({ status }: { status: string }) => status);
  };
  expect(await statuses()).toEqual(["investigating"]);
  const session = await site.app.signedIn("editor");
  const path = `/admin/monitors/${id}`;
  expect((await site.app.call(path, { session })).text).toContain("Nothing is firing");
  const form = formOf((await site.app.call(`${path}/end-alerts/all`, { session })).text);
  await site.app.call(`${path}/end-alerts/all`, { method: "POST", session, form });
  await site.clock.advance(MINUTE_MS);
  expect(site.state(id)).toBe("up");
  expect(await statuses()).toEqual(["resolved"]);
});
