import { expect, test } from "bun:test";
import { listMonitors } from "../../src/features/monitors";
import type { TestApp } from "../support/app";
import { describeInBrowser } from "../support/browser";

const NEW = "/admin/monitors/new";

const namesIn = ({ ctx }: TestApp) =>
  listMonitors(ctx.db, { limit: 100 }).map(({ row }) => row.name);

describeInBrowser("the form for a new monitor", (site) => {
  test("Enter in a field creates a monitor although the form has other buttons before", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit(NEW, { session, javaScriptEnabled: false });
    await page.getByLabel("URL", { exact: true }).fill("https://shop.example.com/");
    await page.getByLabel("Name", { exact: true }).fill("By Enter");
    await page.keyboard.press("Enter");
    await page.getByText("The monitor was created.").waitFor();
    expect(namesIn(app)).toContain("By Enter");
    await page.context().close();
  }, 60_000);

  test("without JavaScript, a new monitor can be tried, given rows and created", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit(NEW, { session, javaScriptEnabled: false });
    await page.getByLabel("URL", { exact: true }).fill("https://shop.example.com/");
    await page.getByLabel("Condition 1: Checked part").selectOption("Status");
    await page.getByLabel("Condition 1: Value").fill("200");
    await page.getByText("Headers and body").click();
    await page.getByLabel("Header 1: Name").fill("X-Key");
    await page.getByLabel("Header 1: Value").fill("s3cr3t");
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("The check succeeded").waitFor();
    expect(await page.content()).not.toContain("s3cr3t");
    await page.getByRole("button", { name: "Add rows" }).first().click();
    await page.getByLabel("Condition 5: Value").waitFor();
    expect(namesIn(app)).not.toContain("Tried");
    await page.getByLabel("Name", { exact: true }).fill("Tried");
    await page.getByRole("button", { name: "Create monitor" }).click();
    await page.getByText("The monitor was created.").waitFor();
    const made = listMonitors(app.ctx.db, { limit: 100 }).find(({ row }) => row.name === "Tried");
    expect(made?.row.config).toMatchObject({
      headers: { "X-Key": "s3cr3t" },
      assertions: [{ source: "status", op: "eq", value: 200 }],
    });
    await page.context().close();
  }, 60_000);
});
