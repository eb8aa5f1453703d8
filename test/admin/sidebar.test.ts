import { expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../support/app";
import { readHtml } from "../support/html";

async function sidebarOf(app: TestApp, session: string) {
  const page = readHtml((await app.call("/admin/pages", { session })).text);
  return {
    page: page.texts(".side-page b"),
    headline: page.texts(".side-page small"),
    href: page.attributes(".side-page", "href"),
    counts: page.texts(".side .menu .n"),
    documentation: page.attributes(".side-foot a", "href")[0],
  };
}

test("the sidebar of an installation without a page has no page", async () => {
  await using app = await createTestApp();
  const { page, counts, documentation } = await sidebarOf(app, await app.signedIn("viewer"));
  expect(page).toEqual([]);
  expect(counts).toEqual([]);
  expect(documentation).toBe("/docs");
});

test("the sidebar shows the page with the worst headline and the number of open incidents", async () => {
  await using app = await createTestApp();
  const shop = await app.page({ slug: "shop", name: "Shop" });
  await app.page({ slug: "inside", name: "Inside" });
  const session = await app.signedIn("viewer");
  expect((await sidebarOf(app, session)).headline).toEqual([
    "All systems operational",
    "and 1 other page",
  ]);
  const key = await app.keyWith("write:incidents", "read:status");
  const json = {
    page: "shop",
    name: "Errors",
    body: "Hm.",
    components: { [shop.components["API"] ?? ""]: "major_outage" },
  };
  const created = await app.call("/api/v1/incidents", { method: "POST", key, json });
  expect(created.status).toBe(201);
  expect(await sidebarOf(app, session)).toEqual({
    page: ["Shop"],
    headline: ["Major system outage", "and 1 other page"],
    href: ["/status/shop"],
    counts: ["1 open"],
    documentation: "/docs",
  });
  await app.call(`/api/v1/incidents/${created.body.id}/updates`, {
    method: "POST",
    key,
    json: { status: "resolved", body: "Over." },
  });
  const { counts, headline } = await sidebarOf(app, session);
  expect(counts).toEqual([]);
  expect(headline[0]).toBe("All systems operational");
});

test("the sidebar of a page without components does not say that all is well", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "shop" }, []);
  const session = await app.signedIn("viewer");
  expect((await sidebarOf(app, session)).headline).toEqual(["No components yet"]);
});
