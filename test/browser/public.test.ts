import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

describeInBrowser("the public page in a browser", (site) => {
  test("is one request, complains of nothing, and is clean under axe, light, dark and small", async () => {
    const { app, visit, axe } = site();
    const { components } = await app.page({ name: "Acme", description: "All of it" }, [
      "API",
      "Web",
    ]);
    const key = await app.keyWith("write:components");
    await app.call(`/api/v1/components/${components.API}`, {
      method: "PATCH",
      key,
      json: { status: "major_outage" },
    });
    for (const look of [
      { colorScheme: "light" as const },
      { colorScheme: "dark" as const },
      { viewport: { width: 390, height: 844 } },
    ]) {
      const { page, requests, complaints } = await visit("/", look);
      expect(await page.getByRole("status").textContent()).toContain("Partial System Outage");
      expect(await axe(page)).toEqual([]);
      expect(requests.filter((url) => !url.startsWith("data:"))).toEqual([`${site().origin}/`]);
      expect(complaints).toEqual([]);
      const isWiderThanWindow = await page.evaluate(
        () => document.documentElement.scrollWidth > innerWidth,
      );
      expect(isWiderThanWindow).toBe(false);
      await page.context().close();
    }
  }, 60_000);

  test("says the same without JavaScript", async () => {
    const { page } = await site().visit("/status/acme", { javaScriptEnabled: false });
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Acme");
    expect(await page.getByText("Major outage").count()).toBe(1);
    await page.context().close();
  }, 60_000);
});

describeInBrowser("the documentation in a browser", (site) => {
  test("lists every operation and asks no other host for anything", async () => {
    const { visit, origin } = site();
    const { page, requests, complaints } = await visit("/docs");
    await page.getByText("/api/v1/status/{slug}").first().waitFor();
    await page.getByText("Read a status page").first().click();
    await page.getByText("The page's status document.").first().waitFor();
    const elsewhere = requests.filter((url) => !url.startsWith(origin) && !url.startsWith("data:"));
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 60_000);
});
