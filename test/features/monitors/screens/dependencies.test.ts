import { describe, expect, test } from "bun:test";
import { recordEntries } from "../../../../src/features/monitors/engine/record";
import { MonitorRegistry } from "../../../../src/features/monitors/engine/registry";
import { ALL_PRESENT } from "../../../support/agents";
import { readHtml } from "../../../support/html";
import {
  createMonitorDashboard,
  type MonitorDashboard,
  monitorIdIn,
  MONITORS,
} from "../../../support/monitor-dashboard";

/** Records a failed check of a monitor. */
async function fail({ app: { ctx } }: MonitorDashboard, id: string): Promise<void> {
  const scheduled = new MonitorRegistry().refreshOne(ctx.db, id);
  if (!scheduled) throw new Error("the monitor is not stored");
  const nothing = { outcome: "failed", latencyMs: null, message: "No route." } as const;
  const entry = {
    kind: "check",
    scheduled,
    at: ctx.clock.now(),
    ...nothing,
  } as const;
  await ctx.db.write((tx) => recordEntries(ctx, tx, [entry], false, ALL_PRESENT));
}

describe("dependencies of monitors on the dashboard", () => {
  test("a monitor is created and edited with the monitors on which it depends", async () => {
    await using dashboard = await createMonitorDashboard();
    const router = await dashboard.make({ name: "Router", group: "Network" });
    const power = await dashboard.make({ name: "Power" });
    const id = monitorIdIn(await dashboard.create({ depends_on: [router, power] }));
    const parents = () => dashboard.stored(id).parents.map((parent) => parent.id);
    expect(parents().toSorted()).toEqual([router, power].toSorted());
    const form = readHtml((await dashboard.open(`${MONITORS}/${id}/edit`)).text);
    expect(form.attributes("input[name=depends_on]", "value")).toEqual([power, router]);
    const { version } = dashboard.stored(id).row;
    await dashboard.edit(id, { name: "Shop 2" });
    expect(dashboard.app.audit().at(-1)?.summary).toBe("Changed the monitor “Shop 2”: name");
    expect(dashboard.stored(id).row.version).toBe(version + 1);
    await dashboard.edit(id, { depends_on: [] });
    expect(parents()).toEqual([]);
  });

  test("a dependency on a monitor that depends on this one is shown again with the error", async () => {
    await using dashboard = await createMonitorDashboard();
    const router = await dashboard.make({ name: "Router" });
    const shop = await dashboard.make({ name: "Shop", depends_on: [router] });
    const before = dashboard.written();
    const answer = await dashboard.edit(router, { depends_on: [shop] });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("Depends on a monitor that depends on the monitor itself.");
    expect(dashboard.written()).toEqual(before);
  });

  test("an unreachable monitor names its parent in the list and on its screen, which lists both directions", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const router = await dashboard.make({ name: "Router", failure_threshold: 1 });
    const shop = await dashboard.make({ name: "Shop", depends_on: [router] });
    await dashboard.applyTransition(router, "down", dashboard.app.clock.now(), "No answer.");
    await fail(dashboard, shop);
    await dashboard.app.clock.advance(60_000);
    const list = readHtml((await dashboard.open()).text);
    expect(list.texts(".row-link")).toEqual(["Router", "Shop"]);
    const [, row = ""] = list.texts("tbody tr");
    expect(row).toContain("Unreachable");
    expect(row).toContain("through Router for");
    const filtered = readHtml((await dashboard.open(`${MONITORS}?state=unreachable`)).text);
    expect(filtered.texts(".row-link")).toEqual(["Shop"]);
    const screen = readHtml((await dashboard.open(`${MONITORS}/${shop}`)).text);
    expect(screen.texts("#monitor-state")[0]).toContain("Unreachable through Router for");
    expect(screen.texts("#monitor-parents .detail-name")).toEqual(["Router"]);
    expect(screen.texts("#monitor-outages tbody tr")[0]).toContain("Unreachable through “Router”.");
    expect(screen.texts("#monitor-dependents")).toEqual([]);
    const parent = readHtml((await dashboard.open(`${MONITORS}/${router}`)).text);
    expect(parent.texts("#monitor-dependents .detail-row")).toEqual(["ShopUnreachable"]);
  });

  test("the overview lists an unreachable monitor only if it marks a component", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app, site } = dashboard;
    const router = await dashboard.make({ name: "Router" });
    const shop = await dashboard.make({
      name: "Shop",
      depends_on: [router],
      component_ids: [site.components["API"] ?? ""],
      on_down: "major_outage",
    });
    const mail = await dashboard.make({ name: "Mail", depends_on: [router], component_ids: [] });
    await dashboard.applyTransition(router, "down", app.clock.now(), "No answer.");
    await fail(dashboard, shop);
    await fail(dashboard, mail);
    const overview = readHtml((await dashboard.open("/admin")).text);
    const attention = overview.texts("#attention")[0] ?? "";
    expect(attention).toContain("Unreachable for");
    expect(attention).toContain("through Router");
    expect(attention).toContain("API (major outage)");
    expect(attention).not.toContain("Mail");
    expect(overview.texts("#health")[0]).toContain("1 down, 2 unreachable");
  });
});
