import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { listAllTemplates } from "../../src/features/incident-templates/templates";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { addTemplate } from "../support/incident-templates";

const REPORT = "/admin/incidents/new?page=acme";

const valueOf = (page: Page, label: string) => page.getByLabel(label, { exact: true }).inputValue();

describeWithBrowser("incident templates", (browser) => {
  test("with a script, a template fills in the whole form and never overwrites what was typed", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    const { components } = await app.page({ slug: "acme" }, ["API", "Web"]);
    await addTemplate(app, {
      page: "acme",
      name: "API down",
      title: "The API is down",
      body: "We look into it.",
      status: "identified",
      impact_override: "critical",
      components: { [components["API"] ?? ""]: "major_outage" },
    });
    await addTemplate(app, { name: "Anything", title: "A problem", body: "Something is wrong." });
    const session = await app.signedIn("editor");
    const { page, errors } = await site.visit(REPORT, { session });
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    await press("API down");
    const filled = async () => ({
      name: await valueOf(page, "Name"),
      message: await valueOf(page, "First message"),
      api: await valueOf(page, "API"),
      impact: await valueOf(page, "Impact"),
    });
    expect(await filled()).toEqual({
      name: "The API is down",
      message: "We look into it.",
      api: "major_outage",
      impact: "critical",
    });
    expect(await page.getByLabel("Impact", { exact: true }).isVisible()).toBe(true);
    expect(await page.getByLabel("Identified", { exact: true }).isChecked()).toBe(true);
    await press("Anything");
    expect(await filled()).toEqual({
      name: "A problem",
      message: "Something is wrong.",
      api: "",
      impact: "",
    });
    await page.getByLabel("Name", { exact: true }).fill("My own name");
    await page.getByLabel("First message").fill("My own message");
    await page.getByLabel("Web", { exact: true }).selectOption("partial_outage");
    await press("API down");
    expect(await filled()).toEqual({
      name: "My own name",
      message: "My own message",
      api: "major_outage",
      impact: "critical",
    });
    expect(await valueOf(page, "Web")).toBe("partial_outage");
    await press("Slow responses");
    expect(await valueOf(page, "Name")).toBe("My own name");
    expect(await valueOf(page, "API")).toBe("");
    expect(app.events()).toEqual([]);
    expect(errors).toEqual([]);
  }, 600_000);

  test("a template keeps the components that the link to the form chose", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    const { components } = await app.page({ slug: "acme" }, ["API", "Web"]);
    const { API: api = "", Web: web = "" } = components;
    await addTemplate(app, {
      page: "acme",
      name: "Web down",
      components: { [web]: "major_outage", [api]: "partial_outage" },
    });
    const session = await app.signedIn("editor");
    const { page } = await site.visit(`${REPORT}&component=${api}`, { session });
    for (const { name, status } of [
      { name: "Slow responses", status: "" },
      { name: "Web down", status: "major_outage" },
    ]) {
      await page.getByRole("button", { name, exact: true }).click();
      expect(await valueOf(page, "API")).toBe("degraded_performance");
      expect(await valueOf(page, "Web")).toBe(status);
    }
  }, 600_000);

  test("without a script, a template is created, used, cloned and deleted", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    await app.page({ slug: "acme" }, ["API"]);
    const session = await app.signedIn("editor");
    const { page } = await site.visit("/admin/incidents", { session, javaScriptEnabled: false });
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    const follow = (name: string) => page.getByRole("link", { name, exact: true }).click();
    await follow("Templates");
    await follow("Create template");
    await page.getByLabel("Template name").fill("API down");
    await page.getByLabel("Page", { exact: true }).selectOption({ index: 1 });
    await press("Show components");
    await page.getByLabel("API", { exact: true }).selectOption("major_outage");
    await page.getByLabel("Incident name").fill("The API is down");
    await page.getByLabel("First message").fill("We look into it.");
    // Enter presses the main button, not that of the page.
    await page.getByLabel("Incident name").press("Enter");
    await page.getByText("The template was created.").waitFor();
    await follow("API down");
    await follow("Report incident");
    expect(await valueOf(page, "Name")).toBe("The API is down");
    expect(await valueOf(page, "API")).toBe("major_outage");
    await page.getByLabel("Name", { exact: true }).fill("Mine");
    await press("API down");
    expect(await valueOf(page, "Name")).toBe("Mine");
    expect(await valueOf(page, "First message")).toBe("We look into it.");
    await page.goBack();
    await page.goBack();
    await follow("Clone");
    await press("Create template");
    await follow("Copy of API down");
    await follow("Delete");
    await press("Delete template");
    await page.getByText("“Copy of API down” was deleted.").waitFor();
    expect(listAllTemplates(app.ctx.db).map(({ row }) => row.name)).toEqual(["API down"]);
  }, 600_000);

  test("screens with the longest names of templates are not wider than the window", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    const long = (first: string, length: number) => first.padEnd(length, "W");
    await app.page({ slug: "acme", name: long("P", 255) }, [long("C", 255)]);
    const fields = { page: "acme", title: long("T", 255), body: long("B", 500) };
    const { id } = await addTemplate(app, { ...fields, name: long("N", 100) });
    for (let made = 0; made < 13; made++) await addTemplate(app, { name: long(`${made}`, 100) });
    const session = await app.signedIn("admin");
    const { page } = await site.visit("/admin", { session });
    const list = "/admin/incidents/templates";
    for (const path of [list, `${list}/${id}`, `${list}/${id}/delete`, REPORT]) {
      await page.goto(site.origin + path);
      for (const fold of await page.locator("details:not([open]) > summary").all()) {
        if (await fold.isVisible()) await fold.click();
      }
      for (const width of [1_280, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const wider = await page.evaluate(() =>
          Array.from(document.querySelectorAll("main *, main"))
            .filter((each) => each.closest("svg, thead, .visually-hidden, option") === null)
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
            .map((each) => `${each.tagName}.${each.className} in ${each.parentElement?.className}`),
        );
        expect(wider, `${path} ${width}`).toEqual([]);
      }
    }
  }, 600_000);
});
