import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

/** Time limit for Swagger UI to render all operations, in milliseconds. */
const RENDERING_MS = 90_000;

describeInBrowser("the API reference in a browser", (site) => {
  test("the API reference lists operations and loads nothing from other hosts", async () => {
    const { visit, origin } = site();
    const { page, requests, errors } = await visit("/docs");
    await page.getByText("/api/v1/status/{slug}").first().waitFor({ timeout: RENDERING_MS });
    await page.getByText("Read a status page").first().click();
    await page.getByText("The page's status document.").first().waitFor();
    const foreign = requests.filter((url) => !url.startsWith(origin) && !url.startsWith("data:"));
    expect(foreign).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  }, 120_000);
});
