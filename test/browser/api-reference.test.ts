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

  test.each([
    { width: 1280, colorScheme: "light" },
    { width: 320, colorScheme: "dark" },
  ] as const)(
    "the API reference has no axe violations and fits a window of $width pixels in $colorScheme",
    async ({ width, colorScheme }) => {
      const { visit, axe } = site();
      const { page, errors } = await visit("/docs", {
        viewport: { width, height: 900 },
        colorScheme,
        // For axe, since the page allows no script.
        bypassCSP: true,
      });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await axe(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.context().close();
    },
    600_000,
  );
});
