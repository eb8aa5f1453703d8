import { describe, expect, test } from "bun:test";
import { readHtml } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  MONITORS,
  NEW_MONITOR,
} from "../../../support/monitor-dashboard";
import { importUnsupported } from "../../../support/unsupported-monitor";

/** Returns the text of a screen. */
const textOf = (html: string) => readHtml(html).texts("main").join(" ");

describe("monitors that this version cannot check on the dashboard", () => {
  test("the screen of one names its type and product, and offers only to edit and delete it", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await importUnsupported(dashboard.app);
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    expect(textOf(text)).toContain("This version cannot check this monitor");
    expect(textOf(text)).toContain("It was imported from Uptime Kuma, where its type is MongoDB.");
    expect(textOf(text)).toContain("MongoDB, from Uptime Kuma");
    expect(textOf(text)).toContain("db.example.com:27017");
    expect(text).not.toContain("let-me-in");
    for (const path of ["check", "resume", "pause"]) {
      expect(text).not.toContain(`${MONITORS}/${id}/${path}`);
    }
    expect(text).not.toContain("Clone");
    expect(text).toContain(`${MONITORS}/${id}/edit`);
    expect(text).toContain(`${MONITORS}/${id}/delete`);
  });

  test("the list shows the origin and the target of one, and finds it by target and by type", async () => {
    await using dashboard = await createMonitorDashboard();
    await importUnsupported(dashboard.app);
    await dashboard.make({ name: "Shop" });
    for (const query of ["?q=db.example.com", "?type=unsupported"]) {
      // oxlint-disable-next-line no-await-in-loop
      const { text } = await dashboard.open(`${MONITORS}${query}`);
      expect(textOf(text)).toContain("MongoDB, from Uptime Kuma · db.example.com:27017");
      expect(text).not.toContain(">Shop<");
    }
    expect((await dashboard.open(`${MONITORS}?q=let-me-in`)).text).not.toContain("Orders");
    const options = readHtml((await dashboard.open(MONITORS)).text).texts("select option");
    expect(options).toContain("Not supported");
  });

  test("the edit form of one changes name, components and labels, and has no other fields", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await importUnsupported(dashboard.app);
    const { config } = dashboard.stored(id).row;
    const { text } = await dashboard.open(`${MONITORS}/${id}/edit`);
    const names = Object.keys(formOf(text)).filter((name) => name !== "version");
    expect(names.sort()).toEqual(["component_ids", "draft", "group", "name", "notes", "tags"]);
    expect(text).not.toContain("Check now");
    const api = dashboard.site.components["API"] ?? "";
    const fields = { name: "Orders database", tags: "imported", component_ids: [api] };
    const answer = await dashboard.edit(id, fields);
    expect(answer.headers.get("location")).toBe(`${MONITORS}/${id}`);
    const { row, components } = dashboard.stored(id);
    expect(row).toMatchObject({
      name: "Orders database",
      tags: ["imported"],
      config,
      paused: true,
    });
    expect(components.map((component) => component.id)).toEqual([api]);
  });

  test("checking one, trying it out and resuming it are conflicts", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await importUnsupported(dashboard.app);
    const before = dashboard.written();
    for (const path of ["check", "resume"]) {
      // oxlint-disable-next-line no-await-in-loop
      const answer = await dashboard.send(`${MONITORS}/${id}/${path}`, {});
      expect(answer.status).toBe(409);
      expect(answer.text).toContain("This version cannot check monitors of the type MongoDB");
    }
    expect((await dashboard.edit(id, { intent: "check" })).status).toBe(409);
    expect(dashboard.checked).toEqual([]);
    expect(dashboard.triedOut).toEqual([]);
    expect(dashboard.written()).toEqual(before);
  });

  test("the form for a new monitor neither offers the type nor clones one", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await importUnsupported(dashboard.app);
    const { text } = await dashboard.open(`${NEW_MONITOR}?type=unsupported&from=${id}`);
    expect(text).toContain('name="config_url"');
    expect(text).not.toContain("Orders (copy)");
    expect(text).not.toContain("Not supported");
    const answer = await dashboard.send(NEW_MONITOR, dashboard.fields({ type: "unsupported" }));
    expect(answer.status).toBe(303);
    expect(dashboard.app.audit().at(-1)?.summary).toBe("Created the monitor “Shop” (http)");
  });

  test("a selection with one is neither resumed nor checked, and says so", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = [await importUnsupported(dashboard.app), await dashboard.make()];
    for (const intent of ["resume", "check"]) {
      // oxlint-disable-next-line no-await-in-loop
      await dashboard.send(`${MONITORS}/selected`, { intent, id });
      // oxlint-disable-next-line no-await-in-loop
      const page = readHtml((await dashboard.open(MONITORS)).text);
      expect(page.texts(".flash")[0]).toContain(
        "1 monitor has a type that this version cannot check.",
      );
    }
    expect(dashboard.checked).toEqual(id.slice(1));
    expect(dashboard.stored(id[0] ?? "").row.paused).toBe(true);
  });

  test("a viewer sees one without its settings", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const id = await importUnsupported(dashboard.app);
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    expect(text).toContain("This version cannot check this monitor");
    expect(text).not.toContain("let-me-in");
  });
});
