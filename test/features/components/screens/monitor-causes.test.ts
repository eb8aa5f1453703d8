import { expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard, MONITORS } from "../../../support/monitor-dashboard";

test("the screens of a component name and link the monitor that decides its status", async () => {
  await using dashboard = await createMonitorDashboard("editor");
  const { app, site } = dashboard;
  const api = site.components["API"] ?? "";
  const id = await dashboard.make({ name: "Shop & co", component_ids: [api] });
  await dashboard.applyTransition(id, "down", app.clock.now());
  for (const path of [
    "/admin/components",
    `/admin/components/${api}`,
    `/admin/components/${api}/status`,
  ]) {
    const page = readHtml((await dashboard.open(path)).text);
    const links = new Set(page.texts(`a[href="${MONITORS}/${id}"]`));
    expect([...links]).toEqual(["Shop & co"]);
    expect(page.texts("main").join("")).toContain("because of the monitor Shop & co");
  }
  await dashboard.send(`/admin/components/${api}/status`, { status: "operational", reason: "x" });
  await dashboard.send(`/admin/components/${api}/status`, {
    status: "degraded_performance",
    reason: "",
  });
  const next = readHtml((await dashboard.open("/admin/components")).text);
  expect(next.texts(".flash")[0]).toContain("because of the monitor “Shop & co”");
});

test("several causes of a status are one sentence, on the screen of the component and in the list", async () => {
  await using dashboard = await createMonitorDashboard("viewer");
  const { app, site } = dashboard;
  const api = site.components["API"] ?? "";
  const key = await app.keyWith("write:incidents", "write:components");
  const id = await dashboard.make({ name: "Shop", component_ids: [api], on_down: "major_outage" });
  await dashboard.applyTransition(id, "down", app.clock.now());
  const report = async (name: string, status: string) => {
    const json = { page: "acme", name, body: "We look into it.", components: { [api]: status } };
    const answer = await app.call("/api/v1/incidents", { method: "POST", key, json });
    expect(answer.status).toBe(201);
  };
  await report("Errors", "major_outage");
  const read = async (path: string, selector: string) =>
    readHtml((await dashboard.open(path)).text).texts(selector);
  const screen = `/admin/components/${api}`;
  const both = "Major outage because of the monitor Shop and the incident Errors";
  const again = "The component is operational again when all of these have ended.";
  expect(await read(screen, "#component-causes")).toEqual([`${both}. ${again}`]);
  expect(await read("/admin/components", ".order-note")).toContain(both);
  // The line has gaps between its parts, so the causes are one of them.
  expect(await read("/admin/components", ".order-note > span:not(.state)")).toContain(
    both.slice("Major outage ".length),
  );
  await report("Slow", "degraded_performance");
  expect(await read(screen, "#component-causes")).toEqual([
    `${both}. Also because of the incident Slow. ${again}`,
  ]);
  await app.call(`/api/v1/components/${api}`, {
    method: "PATCH",
    key,
    json: { status: "major_outage" },
  });
  expect((await read(screen, "#component-causes"))[0]).toStartWith(
    "Major outage set by the API, and because of the monitor Shop and the incident Errors.",
  );
});

test("the screen of a component shows its monitors with their last day, and its own last 90 days", async () => {
  await using dashboard = await createMonitorDashboard("viewer");
  const { app, site } = dashboard;
  const api = site.components["API"] ?? "";
  const id = await dashboard.make({ name: "Shop", component_ids: [api] });
  await dashboard.make({ name: "Other" });
  await dashboard.record(id, [app.clock.now(), 87]);
  const page = readHtml((await dashboard.open(`/admin/components/${api}`)).text);
  expect(page.texts("#component-monitors .row-link")).toEqual(["Shop"]);
  expect(page.texts("#component-monitors tbody tr")[0]).toContain("87 ms");
  expect(page.attributes("#component-monitors .beats", "aria-label")).toHaveLength(1);
  expect(page.texts("#component-uptime h2")).toEqual(["Uptime"]);
  expect(page.attributes("#component-uptime svg", "aria-label")).not.toEqual([]);
});

test("the screen of a component shows its uptime of 24 hours, 30 days and 90 days", async () => {
  await using dashboard = await createMonitorDashboard("viewer");
  const { app, site } = dashboard;
  const api = site.components["API"] ?? "";
  const start = app.clock.now();
  const id = await dashboard.make({ component_ids: [api], on_down: "major_outage" });
  await app.clock.advance(2 * 24 * HOUR_MS);
  await dashboard.applyTransition(id, "down", start + 42 * HOUR_MS);
  const session = await app.signedIn("viewer");
  const page = readHtml((await app.call(`/admin/components/${api}`, { session })).text);
  expect(page.texts("#component-uptime .detail-sums > span")).toEqual([
    "24 h 75.00 %",
    "30 days 87.50 %",
    "90 days 87.50 %",
  ]);
});

test("the screen of a component names its incidents and maintenance, and says since when its status lasts", async () => {
  await using dashboard = await createMonitorDashboard("viewer");
  const { app, site } = dashboard;
  const api = site.components["API"] ?? "";
  const key = await app.keyWith("write:incidents", "write:maintenance");
  const create = async (path: string, json: object) =>
    (await app.call(`/api/v1/${path}`, { method: "POST", key, json })).body.id as string;
  const incident = await create("incidents", {
    page: "acme",
    name: "Errors",
    status: "investigating",
    body: "We look into it.",
    components: { [api]: "degraded_performance" },
  });
  const at = (hours: number) => new Date(app.clock.now() + hours * HOUR_MS).toISOString();
  const maintenance = await create("maintenance", {
    page: "acme",
    name: "Upgrade",
    body: "Planned.",
    components: [api],
    scheduled_for: at(24),
    scheduled_until: at(25),
  });
  const other = site.components["Website"] ?? "";
  const open = async (id: string) =>
    readHtml((await dashboard.open(`/admin/components/${id}`)).text);
  await app.clock.advance(MINUTE_MS);
  const page = await open(api);
  expect(page.attributes("#component-events a", "href").toSorted()).toEqual(
    [`/admin/incidents/${incident}`, `/admin/maintenance/${maintenance}`].toSorted(),
  );
  expect(page.texts("#component-state")[0]).toStartWith("Degraded performance for 1 min");
  expect(page.texts("#component-causes")[0]).toBe(
    "Degraded performance because of the incident Errors.",
  );
  expect(page.texts("#component-changes .detail-name")[0]).toBe("Degraded performance");
  expect(page.texts("#component-uptime .day-key li")).toEqual(["Degraded performance, 1 day"]);
  const calm = await open(other);
  expect(calm.texts("#component-events a")).toEqual([]);
  expect(calm.texts("#component-causes")).toEqual([""]);
  expect(calm.texts("#component-uptime .day-key")).toEqual([]);
});

test("the screen of a component lists its monitors worst first, with their response time", async () => {
  await using dashboard = await createMonitorDashboard("viewer");
  const { app, site } = dashboard;
  const api = site.components["API"] ?? "";
  const make = (name: string) => dashboard.make({ name, component_ids: [api] });
  const path = `/admin/components/${api}`;
  expect(readHtml((await dashboard.open(path)).text).texts("#component-latency")).toEqual([]);
  const [b] = [await make("B"), await make("A"), await make("C")];
  await dashboard.applyTransition(b, "down", app.clock.now());
  await app.clock.advance(MINUTE_MS);
  await dashboard.record(b, [app.clock.now() - 1, 87]);
  const page = readHtml((await dashboard.open(path)).text);
  expect(page.texts("#component-monitors .row-link")).toEqual(["B", "A", "C"]);
  expect(page.texts("#component-latency .detail-figure")).toEqual([
    "87 ms median, 95 % within 87 ms",
  ]);
  for (let index = 0; index < 24; index++) await make(`D ${index}`);
  const many = readHtml((await dashboard.open(path)).text);
  expect(many.texts("#component-monitors .row-link")).toHaveLength(25);
  expect(many.texts("#component-monitors h2")).toEqual(["Monitors the newest 25"]);
});
