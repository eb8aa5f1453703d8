import { expect, test } from "bun:test";
import { MINUTE_MS } from "../../src/base/time";
import { createTestApp, type TestApp } from "../support/app";
import { createDeliverySite } from "../support/delivery-site";
import { readHtml } from "../support/html";
import { startReceiver } from "../support/receiver";

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

test("the sidebar marks failing webhooks, and disabled ones as worse", async () => {
  let status = 500;
  await using receiver = startReceiver(() => status);
  await using site = await createDeliverySite();
  const { app } = site;
  await site.endpoint(receiver.url);
  const session = await app.signedIn("admin");
  const markOf = async () => {
    const page = readHtml((await app.call("/admin/pages", { session })).text);
    return [page.texts(".menu .n")[0], page.attributes(".menu .n", "class")[0]];
  };
  expect(await markOf()).toEqual([undefined, undefined]);
  await site.recordEvents("cmp_1");
  await site.pass(11 * MINUTE_MS);
  expect(await markOf()).toEqual(["1 failing", "n t-partial"]);
  status = 410;
  await site.pass(40 * MINUTE_MS);
  expect(await markOf()).toEqual(["1 disabled", "n t-major"]);
});
