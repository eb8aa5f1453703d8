import { expect, test } from "bun:test";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { applyTransition } from "../../src/features/monitors/engine/transitions";
import { newEvaluation } from "../../src/features/monitors/rules";
import { CLI_ACTOR } from "../../src/base/actor";
import { MINUTE_MS } from "../../src/base/time";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { createMonitor, updateComponent } from "../support/examined";

/** A name of the greatest length without a place for a line break. */
const name = (first: string) => first.padEnd(255, "W");
const tags = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(100, "M"));

describeWithBrowser("monitors with the longest names", (browser) => {
  test("screens of monitors and components with the longest names and tags are not wider than the window", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    const { ctx } = app;
    const { components } = await app.page({ slug: "acme", name: name("P") }, [name("C")]);
    const [componentId = ""] = Object.values(components);
    const id = await ctx.db.write((tx) => {
      updateComponent(ctx, tx, componentId, { tags }, CLI_ACTOR);
      const { row } = createMonitor(
        ctx,
        tx,
        {
          type: "http",
          name: name("M"),
          config: { url: `https://a.test/${"p".repeat(500)}` },
          component_ids: [componentId],
          open_incident: "automatic",
          tags,
        },
        CLI_ACTOR,
      ).record;
      return row.id;
    });
    await ctx.db.write((tx) => {
      const { row, state } = getMonitorRecord(tx, id);
      const evaluation = newEvaluation("down", ctx.clock.now() - MINUTE_MS);
      const message = "x".repeat(500);
      applyTransition(ctx, tx, row, { from: state.state, evaluation, message });
    });
    const session = await app.signedIn("admin");
    const { page, errors } = await site.visit("/admin", { session });
    for (const path of [
      "/admin/monitors",
      `/admin/monitors?tag=${tags[0]}`,
      `/admin/monitors/${id}`,
      `/admin/monitors/${id}/edit`,
      "/admin/components",
      `/admin/components/${componentId}`,
    ]) {
      await page.goto(site.origin + path);
      for (const width of [1_280, 900, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const wider = await page.evaluate(() =>
          Array.from(document.querySelectorAll("main *, main"))
            .filter((each) => each.closest("svg, thead, .tabs, .visually-hidden, option") === null)
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
            .map((each) => `${each.tagName}.${each.className} in ${each.parentElement?.className}`),
        );
        expect(wider, `${path} ${width}`).toEqual([]);
      }
    }
    expect(errors).toEqual([]);
  }, 600_000);

  test("without scripts, an outage is zoomed into, and selected monitors are tagged and deleted", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    const { ctx } = app;
    const config = { url: "https://a.test/" };
    const id = await ctx.db.write((tx) => {
      const input = { type: "http", name: "Shop", config } as const;
      return createMonitor(ctx, tx, input, CLI_ACTOR).record.row.id;
    });
    await ctx.db.write((tx) => {
      const { row, state } = getMonitorRecord(tx, id);
      const evaluation = newEvaluation("down", ctx.clock.now() - MINUTE_MS);
      applyTransition(ctx, tx, row, { from: state.state, evaluation, message: "Refused." });
    });
    const session = await app.signedIn("admin");
    const options = { session, javaScriptEnabled: false };
    const { page } = await site.visit(`/admin/monitors/${id}`, options);
    await page.locator("#monitor-outages td.line a").click();
    await page.getByRole("link", { name: "Back to 24 hours" }).click();
    await page.getByRole("link", { name: "Monitors", exact: true }).first().click();
    await page.getByLabel("Select Shop").check();
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await page.getByLabel("Tag", { exact: true }).fill("production");
    await page.getByRole("button", { name: "Change tags" }).click();
    await page.getByText("1 monitor is tagged “production”.").waitFor();
    await page.getByLabel("Select Shop").check();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete 1 monitor" }).click();
    await page.getByText("1 monitor is deleted.").waitFor();
    await page.getByText("No monitors yet").waitFor();
  }, 600_000);
});
