import { describe, expect, test } from "bun:test";
import { checkFamilies } from "../../../src/features/metrics/families";
import { SECOND_MS } from "../../../src/base/time";
import { createTestApp, expectProblem } from "../../support/app";
import { addMonitor } from "../../support/monitor-store";
import { scrape } from "../../support/scrape";
import { fails, openEngineSite } from "../../support/engine-site";

describe("GET /metrics", () => {
  test("GET /metrics returns Prometheus's text format to keys with read:analytics only", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:analytics");
    const answer = await app.call("/metrics", { key });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { families } = await scrape(app, key);
    expect(families.size).toBeGreaterThan(15);
    for (const [name, family] of families) {
      expect(name).toMatch(/^(allclear|process)_/);
      expect(family.help).toMatch(/[.;]/);
    }

    expectProblem(await app.call("/metrics"), "missing_key");
    const html = { accept: "text/html" };
    expectProblem(await app.call("/metrics", { headers: html }), "missing_key");
    const other = await app.keyWith("read:status", "manage:monitors");
    expectProblem(await app.call("/metrics", { key: other }), "insufficient_scope");
    expectProblem(await app.call("/metrics", { key, method: "POST" }), "method_not_allowed");
  });

  test("the metrics count requests by route and status and contain no requested path", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const key = await app.keyWith("read:analytics", "read:status");
    for (let i = 0; i < 3; i++) await app.call("/api/v1/status/acme", { key });
    await app.call("/api/v1/status/hidden-slug", { key });
    await app.call("/api/v1/status/acme");
    await app.call("/no/such/path");
    await app.call("/api/v1/status/acme", { key, method: "DELETE" });
    const { text, value } = await scrape(app, key);
    const of = (labels: Record<string, string>) => value("allclear_http_requests_total", labels);
    const route = "/api/v1/status/:slug";
    expect(of({ method: "GET", route, status: "200" })).toBe(3);
    expect(of({ method: "GET", route, status: "404" })).toBe(1);
    expect(of({ method: "GET", route, status: "401" })).toBe(1);
    expect(of({ route: "none", status: "404" })).toBe(1);
    expect(of({ route: "none", status: "405" })).toBe(1);
    expect(text).not.toContain("hidden-slug");
    expect(text).not.toContain("/no/such");
    expect(text).not.toContain(key);
    const again = await scrape(app, key);
    const metrics = { route: "/metrics", status: "200" };
    expect(again.value("allclear_http_requests_total", metrics)).toBe(1);
  });

  test("the metrics contain buckets, refusals and overflows by policy", async () => {
    await using app = await createTestApp({
      env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "2", ALLCLEAR_BUCKET_CAPACITY: "16" },
    });
    const key = await app.keyWith("read:analytics");
    const before = await scrape(app, key);
    expect(before.value("allclear_limiter_buckets", { policy: "public" })).toBe(0);
    expect(before.value("allclear_limiter_buckets", { policy: "key" })).toBe(1);
    for (let i = 0; i < 5; i++) await app.call("/api/v1/key", { from: "198.51.100.1" });
    for (let i = 0; i < 20; i++) await app.call("/api/v1/key", { from: `198.51.100.${i + 2}` });
    const after = await scrape(app, key);
    const of = (name: string) => after.value(`allclear_limiter_${name}`, { policy: "public" });
    expect(of("buckets")).toBe(16);
    expect(of("overflows_total")).toBe(5);
    // Three of the first address. Each of the five without a bucket has one request of two.
    expect(of("refusals_total")).toBe(3);
    expect(after.value("allclear_limiter_refusals_total", { policy: "key" })).toBe(0);
    expect(after.value("allclear_http_requests_total", { status: "429", method: "GET" })).toBe(3);
  });

  test("the metrics count monitors by state, without deleted ones", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:analytics", "manage:monitors");
    const one = { componentIds: [], createdAt: app.clock.now() };
    const gone = await app.ctx.db.write((tx) => {
      addMonitor(app.ctx, tx, { ...one, name: "secret-name" });
      return addMonitor(app.ctx, tx, { ...one, name: "gone" });
    });
    await app.call(`/api/v1/monitors/${gone.id}`, { method: "DELETE", key });
    const { text, value } = await scrape(app, key);
    expect(value("allclear_monitors", { state: "pending" })).toBe(1);
    expect(value("allclear_monitors", { state: "down" })).toBe(0);
    expect(text).not.toContain("secret-name");
  });

  test("the metrics contain the size of the database and its changes", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:analytics", "write:components");
    const { components } = await app.page();
    const before = await scrape(app, key);
    expect(before.value("allclear_database_size_bytes")).toBeGreaterThan(50_000);
    const path = `/api/v1/components/${components["API"]}`;
    const set = (status: string) => app.call(path, { method: "PATCH", key, json: { status } });
    await Promise.all([set("major_outage"), set("partial_outage"), set("operational")]);
    const after = await scrape(app, key);
    const rise = (name: string) => after.value(name) - before.value(name);
    expect(rise("allclear_database_changes_total")).toBe(3);
    expect(rise("allclear_database_batches_total")).toBe(1);
    expect(rise("allclear_database_refusals_total")).toBe(0);
    expect(after.value("allclear_database_changes_waiting")).toBe(0);
  });

  test("the metrics contain memory, processor time and start of the process", async () => {
    await using app = await createTestApp();
    const { value } = await scrape(app, await app.keyWith("read:analytics"));
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(10e6);
    expect(value("process_cpu_seconds_total")).toBeGreaterThan(0);
    expect(value("process_start_time_seconds")).toBeGreaterThan(1.7e9);
    expect(value("allclear_event_loop_lag_seconds")).toBeGreaterThanOrEqual(0);
    expect(value("allclear_build_info")).toBe(1);
  });
});

describe("metrics of the monitoring", () => {
  test("the metrics count checks by type and outcome, late checks and waiting ones", async () => {
    await using site = await openEngineSite();
    const { app } = site;
    app.app.metrics.add(...checkFamilies(() => site.engine.figures()));
    const key = await app.keyWith("read:analytics");
    await site.monitor({ name: "good" });
    await site.monitor({ name: "bad" });
    site.let("bad.test", fails());
    await site.clock.advance(10 * SECOND_MS);
    const { value } = await scrape(app, key);
    const of = (labels: Record<string, string>) => value("allclear_monitor_checks_total", labels);
    const { checks } = site.engine.figures();
    expect(checks.ok).toBeGreaterThan(0);
    expect(of({ type: "http", outcome: "ok" })).toBe(checks.ok);
    expect(of({ type: "http", outcome: "failed" })).toBe(checks.failed);
    expect(checks.failed).toBeGreaterThan(0);
    expect(of({ type: "tcp", outcome: "ok" })).toBe(0);
    expect(value("allclear_monitor_checks_begun_total")).toBe(checks.ok + checks.failed);
    expect(value("allclear_monitor_checks_late_total")).toBe(0);
    expect(value("allclear_monitor_checks_running")).toBe(0);
    expect(value("allclear_monitor_results_dropped_total")).toBe(0);
    expect(value("allclear_monitor_checks_discarded_total", { reason: "stall" })).toBe(0);
  });

  test("the metrics count a result that was discarded for a stall, and its check once", async () => {
    await using site = await openEngineSite({ detectsStalls: true });
    const { app, clock } = site;
    app.app.metrics.add(...checkFamilies(() => site.engine.figures()));
    const key = await app.keyWith("read:analytics");
    const { id } = await site.monitor({ name: "good" });
    site.let("good.test", () => {
      if (site.checkCount() === 1) clock.stall(6 * SECOND_MS);
      return { outcome: "ok", latencyMs: 20, message: null };
    });
    const answer = site.engine.checkNow(id);
    await clock.advance(SECOND_MS);
    await answer;
    const { value } = await scrape(app, key);
    const of = (labels: Record<string, string>) => value("allclear_monitor_checks_total", labels);
    expect(value("allclear_monitor_checks_discarded_total", { reason: "stall" })).toBe(1);
    expect(of({ type: "http", outcome: "ok" })).toBe(1);
    expect(site.checkCount()).toBe(2);
  });
});

describe("metrics of feature modules", () => {
  test("metrics can be added at any time, each name once and with any label values", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:analytics");
    await scrape(app, key);
    let depth = 7;
    const queue = {
      type: "gauge",
      name: "allclear_deliveries_waiting",
      help: "Deliveries that wait;\nby endpoint, \\ and all.",
      labelNames: ["endpoint"],
      read: () => [{ labels: { endpoint: 'a "quoted" \\ one\nof two lines' }, value: depth }],
    } as const;
    app.app.metrics.add(queue);
    expect(() => app.app.metrics.add(queue)).toThrow("already exists");
    const { families } = await scrape(app, key);
    expect(families.get(queue.name)).toEqual({
      type: "gauge",
      help: queue.help,
      samples: [{ labels: { endpoint: 'a "quoted" \\ one\nof two lines' }, value: 7 }],
    });
    depth = 0;
    expect((await scrape(app, key)).value(queue.name)).toBe(0);
  });

  test("metrics added to one application are not in another", async () => {
    await using one = await createTestApp();
    await using other = await createTestApp();
    one.app.metrics.add({ type: "gauge", name: "allclear_only", help: "One.", read: () => [] });
    const { families } = await scrape(other, await other.keyWith("read:analytics"));
    expect(families.has("allclear_only")).toBe(false);
  });
});
