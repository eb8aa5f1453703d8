import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../../support/app";
import { readHtml, typedIn } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  MONITORS,
  NEW_MONITOR,
} from "../../../support/monitor-dashboard";

describe("cloning a monitor", () => {
  test("the form for a clone has the settings of the monitor, but no headers, body or token", async () => {
    await using dashboard = await createMonitorDashboard();
    const { site } = dashboard;
    const api = site.components["API"] ?? "";
    const id = await dashboard.make({
      name: "Shop",
      component_ids: [api],
      interval_seconds: 45,
      on_down: "major_outage",
      config: {
        url: "https://shop.test/up",
        method: "POST",
        headers: { Authorization: "Bearer hidden" },
        body: "secret body",
      },
    });
    const screen = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text);
    const path = `${NEW_MONITOR}?type=http&from=${id}`;
    expect(screen.attributes(".more-menu a", "href")).toContain(path);
    const { text } = await dashboard.open(path);
    expect(text).not.toMatch(/Bearer hidden|secret body|value="Authorization"/);
    expect(typedIn(text, "name")).toEqual(["Shop (copy)"]);
    expect(typedIn(text, "config_url")).toEqual(["https://shop.test/up"]);
    const made = await dashboard.send(NEW_MONITOR, formOf(text));
    const { row, components } = dashboard.stored(monitorIdIn(made));
    expect(row).toMatchObject({ name: "Shop (copy)", intervalSeconds: 45, onDown: "major_outage" });
    expect(row.config).toMatchObject({ url: "https://shop.test/up", method: "POST" });
    expect(row.config).not.toHaveProperty("headers");
    expect(row.config).not.toHaveProperty("body");
    expect(components.map((component) => component.id)).toEqual([api]);
  });

  test("the longest name of a clone keeps its ending, and no character is cut in half", async () => {
    await using dashboard = await createMonitorDashboard();
    for (const name of ["x".repeat(255), "😀".repeat(255)]) {
      const id = await dashboard.make({ name });
      const { text } = await dashboard.open(`${NEW_MONITOR}?type=http&from=${id}`);
      const [first = ""] = [...name];
      expect(typedIn(text, "name")).toEqual([`${first.repeat(248)} (copy)`]);
      expect((await dashboard.send(NEW_MONITOR, formOf(text))).status).toBe(303);
    }
  });

  test("the form for a clone of an unknown monitor is not_found, and an editor may not open it", async () => {
    await using dashboard = await createMonitorDashboard();
    expectProblem(await dashboard.open(`${NEW_MONITOR}?type=http&from=mon_none`), "not_found");
    const id = await dashboard.make();
    const session = await dashboard.app.signedIn("editor");
    const answer = await dashboard.app.call(`${NEW_MONITOR}?type=http&from=${id}`, { session });
    expect(answer.status).toBe(403);
  });

  test("the further options of a clone are open if they differ from the defaults", async () => {
    await using dashboard = await createMonitorDashboard();
    const opened = async (id: string) => {
      const { text } = await dashboard.open(`${NEW_MONITOR}?type=http&from=${id}`);
      return readHtml(text).texts(".options-fold[open]").length;
    };
    expect(await opened(await dashboard.make())).toBe(0);
    expect(await opened(await dashboard.make({ timeout_ms: 2_000 }))).toBe(1);
  });
});
