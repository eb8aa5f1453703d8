import { expect, test } from "bun:test";
import type { BrowserContext } from "playwright-core";
import { describeInBrowser } from "../support/browser";

/** Time limit for Swagger UI to render the operations, in milliseconds. */
const RENDERING_MS = 60_000;

/** Leaves the operations of status pages only: rendering all takes many seconds. */
async function shortenReference(context: BrowserContext): Promise<void> {
  await context.route("**/openapi.json", async (route) => {
    const response = await route.fetch();
    const reference = await response.json();
    const paths = Object.entries(reference.paths).filter(([path]) =>
      /^\/api\/v1\/status\b/.test(path),
    );
    await route.fulfill({ response, json: { ...reference, paths: Object.fromEntries(paths) } });
  });
}

describeInBrowser("the API reference in a browser", (site) => {
  test("the forms of the API list operations and load nothing from other hosts", async () => {
    const { visit, origin } = site();
    const { page, requests, errors } = await visit("/docs/errors");
    await shortenReference(page.context());
    await page.goto(`${origin}/docs/try`);
    await page.getByText("/api/v1/status/{slug}").first().waitFor({ timeout: RENDERING_MS });
    await page.getByText("Read a status page").first().click();
    await page.getByText("The page's status document.").first().waitFor();
    const foreign = requests.filter((url) => !url.startsWith(origin) && !url.startsWith("data:"));
    expect(foreign).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  }, 600_000);

  test.each([
    { width: 1280, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
  ] as const)(
    "the documentation of moves has no axe violations and fits a window of $width pixels in $colorScheme",
    async ({ width, colorScheme }) => {
      const { visit, axe } = site();
      const { page, errors } = await visit("/docs/coming-from", {
        viewport: { width, height: 900 },
        colorScheme,
        bypassCSP: true,
      });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await axe(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.context().close();
    },
    600_000,
  );

  test.each(
    [
      "/docs",
      "/docs/incidents",
      "/docs/compatibility",
      "/docs/events",
      "/docs/errors",
      "/docs/search?q=cursor",
    ].flatMap((path) => [
      { path, width: 1280, colorScheme: "light" as const },
      { path, width: 390, colorScheme: "light" as const },
      { path, width: 320, colorScheme: "dark" as const },
    ]),
  )(
    "$path has no axe violations and fits a window of $width pixels in $colorScheme",
    async ({ path, width, colorScheme }) => {
      const { visit, axe } = site();
      const { page, errors } = await visit(path, {
        viewport: { width, height: 900 },
        colorScheme,
        // For axe, since the page allows no script of others.
        bypassCSP: true,
      });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await axe(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.context().close();
    },
    600_000,
  );

  test.each([
    ["createIncident", "/docs/incidents#createIncident"],
    ["schema-CreatedIncident", "/docs/incidents#schema-CreatedIncident"],
    ["tag-Incidents", "/docs/incidents"],
  ])(
    "the earlier address of %s leads to its page",
    async (id, target) => {
      const { visit, origin } = site();
      const { page, errors } = await visit(`/docs#${id}`);
      await page.waitForURL(origin + target);
      expect(errors).toEqual([]);
      await page.context().close();
    },
    600_000,
  );

  test("the chosen language is shown on each page without a cookie, and its sample is copied", async () => {
    const { visit, origin } = site();
    const { page, errors } = await visit("/docs/incidents", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const sample = (language: string) =>
      page.locator(`:is(#createIncident, #listComponents) .${language}`);
    expect(await sample("curl").isVisible()).toBe(true);
    await page.getByRole("radio", { name: "Python" }).check();
    expect(await sample("curl").isVisible()).toBe(false);
    expect(await sample("python").isVisible()).toBe(true);
    await page.locator("#createIncident").getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toStartWith("import json\nimport os\n");
    await page.goto(`${origin}/docs/components`);
    await sample("python").waitFor();
    expect(await sample("curl").isVisible()).toBe(false);
    expect(await page.context().cookies()).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  }, 600_000);

  test("results appear while a text is typed, and Escape closes them", async () => {
    const { visit } = site();
    const { page, errors } = await visit("/docs/incidents");
    const field = page.getByRole("searchbox");
    await field.pressSequentially("open an inc");
    const result = page.getByRole("search").getByRole("link", { name: "Open an incident" });
    await result.waitFor();
    await field.press("Escape");
    await result.waitFor({ state: "hidden" });
    expect(errors).toEqual([]);
    await page.context().close();
  }, 600_000);

  test("without JavaScript each language can be chosen and the search sends its form", async () => {
    const { visit, origin } = site();
    const { page } = await visit("/docs/incidents", { javaScriptEnabled: false });
    const sample = (language: string) => page.locator(`#createIncident .${language}`);
    for (const [name, language] of [
      ["Go", "go"],
      ["JavaScript", "javascript"],
      ["Python", "python"],
      ["curl", "curl"],
    ] as const) {
      await page.getByRole("radio", { name, exact: true }).check();
      expect(await page.locator("#createIncident pre:visible").count()).toBe(1);
      expect(await sample(language).isVisible()).toBe(true);
    }
    await page.getByRole("searchbox").fill("precondition_failed");
    await page.getByRole("button", { name: "Search" }).click();
    await page.waitForURL(`${origin}/docs/search?q=precondition_failed`);
    await page.getByRole("link", { name: "precondition_failed" }).click();
    await page.waitForURL(`${origin}/docs/errors#precondition_failed`);
    await page.context().close();
  }, 600_000);
});
