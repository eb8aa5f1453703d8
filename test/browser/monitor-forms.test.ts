import { expect, test } from "bun:test";
import { getMonitorRecord, listMonitors } from "../../src/features/monitors/records";
import type { TestApp } from "../support/app";
import { describeInBrowser } from "../support/browser";
import { clientCertificate } from "../support/raw-server";

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
  }, 600_000);

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
  }, 600_000);

  test("without JavaScript, the parts for a client certificate and a proxy open, and open again when they are used", async () => {
    const { certificate, key } = await clientCertificate("good");
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit(NEW, { session, javaScriptEnabled: false });
    await page.getByLabel("Name", { exact: true }).fill("Behind a proxy");
    await page.getByLabel("URL", { exact: true }).fill("https://shop.example.com/");
    expect(await page.getByLabel("Proxy URL").isVisible()).toBe(false);
    await page.getByText("Client certificate", { exact: true }).click();
    await page.getByLabel("Certificate", { exact: true }).fill(certificate);
    await page.getByLabel("Private key").fill(key);
    await page.getByText("Proxy", { exact: true }).click();
    await page.getByLabel("Proxy URL").fill("http://proxy.example.com:3128");
    await page.getByRole("button", { name: "Create monitor" }).click();
    await page.getByText("The monitor was created.").waitFor();
    const { row } = listMonitors(app.ctx.db, { limit: 100 }).find(
      (each) => each.row.name === "Behind a proxy",
    ) ?? { row: undefined };
    expect(row?.config).toMatchObject({
      client_certificate: { certificate, key },
      proxy: { url: "http://proxy.example.com:3128" },
    });
    await page.goto(new URL(`/admin/monitors/${row?.id}/edit`, page.url()).href);
    expect(await page.getByLabel("Proxy URL").isVisible()).toBe(true);
    expect(await page.getByLabel("Token URL").isVisible()).toBe(false);
    await page.getByLabel("Remove the proxy", { exact: true }).check();
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("The monitor was changed.").waitFor();
    const stored = getMonitorRecord(app.ctx.db, row?.id ?? "").row.config;
    expect(stored).toMatchObject({ client_certificate: { certificate, key } });
    expect(stored).not.toHaveProperty("proxy");
    await page.context().close();
  }, 600_000);
});
