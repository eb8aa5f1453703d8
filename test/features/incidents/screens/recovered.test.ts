import { describe, expect, test } from "bun:test";
import { getIncident } from "../../../../src/features/incidents/records";
import { listIncidentsOfMonitor } from "../../../../src/features/monitors/overview-store";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { readHtml, typedIn } from "../../../support/html";
import { createMonitorDashboard, type MonitorDashboard } from "../../../support/monitor-dashboard";
import { addUpdate } from "../../../support/examined";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Lets a monitor open an incident that a person then takes over, and recover 28 seconds ago. */
async function recover(site: MonitorDashboard, opens: "automatic" | "draft" = "automatic") {
  const { ctx, clock } = site.app;
  const { API: api = "" } = site.site.components;
  const monitor = await site.make({ component_ids: [api], open_incident: opens });
  await site.applyTransition(monitor, "down", clock.now() - 10 * MINUTE);
  const [incident] = listIncidentsOfMonitor(ctx.db, { monitorId: monitor, limit: 1 });
  if (!incident) throw new Error("the monitor opens an incident");
  const { id } = incident;
  // The monitor resolves only incidents that no person has changed.
  await ctx.db.write((tx) => {
    addUpdate(ctx, tx, id, { body: "A disk.", status: "identified" }, CLI_ACTOR);
  });
  await site.applyTransition(monitor, "up", clock.now() - 28 * SECOND);
  return { id, monitor, path: `/admin/incidents/${id}` };
}

/** Fields of the form that resolves an incident with one click. */
function resolveFields(html: string): Record<string, string> {
  const [form = ""] = /<form[^>]*>(?:(?!<\/form>).)*Resolve incident/s.exec(html) ?? [];
  const names = ["form", "seen_status", "intent", "status", "body", "notify"];
  return Object.fromEntries(names.map((name) => [name, typedIn(form, name)[0] ?? ""]));
}

describe("an incident whose monitor is up again", () => {
  test("the screen of the incident says since when, and resolves it with one click", async () => {
    await using site = await createMonitorDashboard("editor");
    const { id, monitor, path } = await recover(site);
    const { text } = await site.open(path);
    const page = readHtml(text);
    expect(page.texts("#incident-recovered p")).toEqual([
      "All outages have ended. Shop has been up for 28 s.",
    ]);
    expect(page.attributes("#incident-recovered a", "href")).toEqual([
      `/admin/monitors/${monitor}`,
    ]);
    expect(page.attributes("#detected-by a", "href")).toEqual([`/admin/monitors/${monitor}`]);
    expect(page.texts(".timeline-by").at(-1)).toStartWith("By the monitor Shop");
    const answer = await site.send(`${path}/updates`, resolveFields(text));
    expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
    const { row, updates } = getIncident(site.app.ctx.db, id, true);
    expect(row.status).toBe("resolved");
    expect(updates[0]?.body).toBe("This incident is resolved. Everything works as usual again.");
    const after = readHtml((await site.open(path)).text);
    expect(after.texts("#incident-recovered p")).toEqual([]);
    expect(after.texts(".flash")).toEqual(["The incident is resolved."]);
  });

  test("clicking twice, or after another person resolved the incident, resolves it once", async () => {
    await using site = await createMonitorDashboard("editor");
    const { id, path } = await recover(site);
    const fields = resolveFields((await site.open(path)).text);
    const other = resolveFields((await site.open(path)).text);
    await site.send(`${path}/updates`, fields);
    await site.send(`${path}/updates`, fields);
    const late = await site.send(`${path}/updates`, other);
    expect(late.status).toBe(409);
    expect(late.text).toContain("The incident was resolved meanwhile");
    expect(getIncident(site.app.ctx.db, id, true).updates).toHaveLength(3);
  });

  test("the tokens of the two forms differ, so that neither is taken for the other", async () => {
    await using site = await createMonitorDashboard("editor");
    const { path } = await recover(site);
    const tokens = typedIn((await site.open(path)).text, "form");
    expect(new Set(tokens).size).toBe(2);
  });

  test("a viewer reads that the monitor is up, without a button", async () => {
    await using site = await createMonitorDashboard("viewer");
    const { path } = await recover(site);
    const page = readHtml((await site.open(path)).text);
    expect(page.texts("#incident-recovered p")).toEqual([
      "All outages have ended. Shop has been up for 28 s.",
    ]);
    expect(page.texts("#incident-recovered button")).toEqual([]);
  });

  test("a draft and an incident whose monitor is down again say nothing", async () => {
    await using site = await createMonitorDashboard("editor");
    const { monitor, path } = await recover(site);
    await site.applyTransition(monitor, "down", site.app.clock.now());
    expect(readHtml((await site.open(path)).text).texts("#incident-recovered p")).toEqual([]);
    const draft = await recover(site, "draft");
    expect(readHtml((await site.open(draft.path)).text).texts("#incident-recovered p")).toEqual([]);
  });

  test("the link of the overview proposes status and message", async () => {
    await using site = await createMonitorDashboard("editor");
    const { path } = await recover(site);
    const page = readHtml((await site.open(`${path}?status=resolved`)).text);
    expect(page.texts("textarea")).toEqual([
      "This incident is resolved. Everything works as usual again.",
    ]);
    expect(page.attributes("input[type=radio][checked]", "value")).toEqual(["resolved"]);
  });
});
