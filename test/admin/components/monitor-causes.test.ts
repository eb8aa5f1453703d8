import { expect, test } from "bun:test";
import { readHtml } from "../../support/html";
import { createMonitorDashboard, MONITORS } from "../../support/monitor-dashboard";

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
