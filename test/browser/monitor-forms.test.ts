import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { SUPPORTED_TYPES } from "../../src/base/status";
import { getMonitorRecord, listMonitors } from "../../src/features/monitors/records";
import { listAllWebhooks } from "../../src/features/webhooks/store";
import type { TestApp } from "../support/app";
import { describeInBrowser } from "../support/browser";
import { createWebhook } from "../support/examined";
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
    await page.getByText("More options").click();
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
    await page.getByText("More options").click();
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

  test("types are found by what people call them, with the keyboard alone", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page, errors } = await visit(NEW, { session });
    const search = page.getByPlaceholder("What should be watched?");
    await page.locator(".picker > summary").press("Enter");
    const found = async (typed: string) => {
      await search.fill(typed);
      return page
        .locator(".picker li .button:visible")
        .evaluateAll((options) => options.map((option) => (option as HTMLButtonElement).value));
    };
    expect(await found("cron")).toEqual(["push"]);
    expect(await found("SSL")).toEqual(["tls"]);
    expect(await found("minecraft")).toEqual(["tcp"]);
    expect(await found("port")).toEqual(["tcp"]);
    expect(await found("ping")).toEqual(["ping", "redis"]);
    expect(await found("database")).toEqual(["postgres", "mysql", "redis"]);
    expect(await found("mail server")).toEqual(["smtp"]);
    expect(await found("fax")).toEqual([]);
    await page.getByText("No type has this name.").waitFor();
    expect(await found("")).toHaveLength(18);
    await search.press("Escape");
    expect(await search.isVisible()).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("SUMMARY");
    await page.keyboard.press("Enter");
    await search.fill("database");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await page.evaluate(() => (document.activeElement as HTMLButtonElement).value)).toBe(
      "mysql",
    );
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByLabel("User name").waitFor();
    expect(await page.locator(".picker > summary").innerText()).toContain("PostgreSQL database");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("SUMMARY");
    expect(namesIn(app)).not.toContain("");
    expect(errors).toEqual([]);
    await page.context().close();
  }, 600_000);

  test("without JavaScript, another type keeps the name, and an endpoint is added in the form", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit(NEW, { session, javaScriptEnabled: false });
    await page.getByLabel("Name", { exact: true }).fill("Door");
    await page.locator(".picker > summary").click();
    expect(await page.getByPlaceholder("What should be watched?").isVisible()).toBe(false);
    await page.getByRole("button", { name: "TCP port" }).click();
    await page.getByLabel("Port", { exact: true }).waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Door");
    await page.getByLabel("Host", { exact: true }).fill("door.example.com");
    await page.getByLabel("Port", { exact: true }).fill("25565");
    if (!(await page.getByLabel("Address").isVisible())) {
      await page.getByText("Add an endpoint").click();
    }
    await page.getByLabel("Send to").selectOption("ntfy");
    await page.getByLabel("Address").fill("https://ntfy.sh/door");
    await page.getByRole("button", { name: "Create monitor" }).click();
    await page.getByText("The monitor was created.").waitFor();
    expect(await page.locator(".flash").innerText()).toContain("Notified: ntfy.");
    await page.context().close();
  }, 600_000);

  test("of a heartbeat, the form shows the inputs of the chosen timing only", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit(`${NEW}?type=push`, { session, javaScriptEnabled: false });
    const shown = async () =>
      Promise.all(
        ["Interval", "Schedule"].map((label) =>
          page.getByLabel(label, { exact: true }).isVisible(),
        ),
      );
    expect(await shown()).toEqual([true, false]);
    await page.getByRole("radio", { name: "By a schedule" }).check();
    expect(await shown()).toEqual([false, true]);
    await page.getByRole("radio", { name: "Without a deadline" }).check();
    expect(await shown()).toEqual([false, false]);
    await page.context().close();
  }, 600_000);

  test("with three endpoints, the form of each type ends within 900 px at 1,280 px, and fits 390 px", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const made = await visit(NEW, { session, viewport: { width: 1_280, height: 800 } });
    for (const description of ["Team chat", "On call", "Data team"]) {
      if (listAllWebhooks(app.ctx.db, {}).length === 3) break;
      const body = { url: "https://hooks.example.com/", description, monitors: [] };
      // oxlint-disable-next-line no-await-in-loop
      await app.ctx.db.write((tx) => createWebhook(app.ctx, tx, body, CLI_ACTOR));
    }
    const measure = async ({ page }: typeof made) => {
      const ends: Record<string, number> = {};
      const wide: string[] = [];
      for (const type of SUPPORTED_TYPES) {
        // oxlint-disable-next-line no-await-in-loop
        await page.goto(new URL(`${NEW}?type=${type}`, page.url()).href);
        // oxlint-disable-next-line no-await-in-loop
        const { end, overflow } = await page.evaluate(() => ({
          end: document.querySelector(".form-card")?.getBoundingClientRect().bottom ?? Infinity,
          overflow: document.documentElement.scrollWidth - innerWidth,
        }));
        ends[type] = Math.ceil(end);
        if (overflow > 0) wide.push(type);
      }
      await page.context().close();
      return { ends, wide };
    };
    const desk = await measure(made);
    expect(Object.entries(desk.ends).filter(([, end]) => end > 900)).toEqual([]);
    expect(desk.wide).toEqual([]);
    const phone = await visit(NEW, { session, viewport: { width: 390, height: 844 } });
    expect((await measure(phone)).wide).toEqual([]);
  }, 600_000);
});
