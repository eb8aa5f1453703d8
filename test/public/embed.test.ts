import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../support/app";
import { readHtml } from "../support/html";

async function createShop(): Promise<{ app: TestApp; api: string }> {
  const app = await createTestApp();
  const { components } = await app.page({ slug: "shop", name: "Shop" }, ["API", "Search"]);
  await app.page({ slug: "inside", name: "Inside", visibility: "private" }, ["Payroll"]);
  return { app, api: components["API"] ?? "" };
}

async function report(app: TestApp, name: string, api: string): Promise<string> {
  const { status, body } = await app.call("/api/v1/incidents", {
    method: "POST",
    key: await app.keyWith("write:incidents"),
    json: { page: "shop", name, body: "We look.", components: { [api]: "partial_outage" } },
  });
  expect(status).toBe(201);
  return body.id;
}

describe("the frame of a page", () => {
  test("the frame shows the headline, open incidents and the link to the page", async () => {
    const { app, api } = await createShop();
    await using _ = app;
    const id = await report(app, "Payments fail", api);
    const { status, text } = await app.call("/status/shop/embed");
    expect(status).toBe(200);
    const page = readHtml(text);
    expect(page.texts(".embed-name")).toEqual(["Shop"]);
    expect(page.texts("h1")).toEqual(["Partial system outage"]);
    expect(page.texts(".embed-list li")).toEqual(["Payments failInvestigating, major impact"]);
    expect(page.attributes("main a", "href")).toEqual([
      `https://status.test/status/shop/incidents/${id}`,
      "https://status.test/status/shop",
    ]);
    expect(page.attributes("base", "target")).toEqual(["_blank"]);
  });

  test("the frame shows three entries and counts the others", async () => {
    const { app, api } = await createShop();
    await using _ = app;
    for (const name of ["One", "Two", "Three", "Four", "Five"]) await report(app, name, api);
    const page = readHtml((await app.call("/status/shop/embed")).text);
    expect(page.texts(".embed-list li")).toHaveLength(4);
    expect(page.texts(".embed-list li").at(-1)).toBe("and 2 more");
  });

  test("the frame may be shown by every site, as the only page", async () => {
    const { app } = await createShop();
    await using _ = app;
    const policyOf = async (path: string) =>
      (await app.call(path, { headers: { accept: "text/html" } })).headers.get(
        "content-security-policy",
      );
    expect(await policyOf("/status/shop/embed")).toContain("frame-ancestors *");
    for (const path of [
      "/",
      "/status/shop",
      "/status/shop/history",
      "/status/shop/subscribe",
      "/docs",
      "/admin/sign-in",
      "/nowhere",
    ]) {
      expect(await policyOf(path)).toContain("frame-ancestors 'none'");
    }
  });

  test("the frame has the theme of its query, and an unknown theme is refused", async () => {
    const { app } = await createShop();
    await using _ = app;
    const themeOf = async (path: string) =>
      readHtml((await app.call(path)).text).attributes("html", "data-theme");
    expect(await themeOf("/status/shop/embed?theme=dark")).toEqual(["dark"]);
    expect(await themeOf("/status/shop/embed?theme=light")).toEqual(["light"]);
    expect(await themeOf("/status/shop/embed")).toEqual([]);
    expect((await app.call("/status/shop/embed?theme=pink")).status).toBe(400);
  });

  test("the frame does not exist for a private page, even with a session, nor for an unknown one", async () => {
    const { app } = await createShop();
    await using _ = app;
    expect((await app.call("/status/inside/embed")).status).toBe(404);
    const session = await app.signedIn("owner");
    expect((await app.call("/status/inside/embed", { session })).status).toBe(404);
    expect((await app.call("/status/nowhere/embed")).status).toBe(404);
  });

  test("the frame writes names as text", async () => {
    const { app, api } = await createShop();
    await using _ = app;
    await report(app, "<img src=x onerror=alert(1)>", api);
    const { text } = await app.call("/status/shop/embed");
    expect(text).not.toContain("<img");
    expect(readHtml(text).texts(".embed-list a")).toEqual(["<img src=x onerror=alert(1)>"]);
  });
});

describe("the widget of a page", () => {
  /** Returns the state that the script shows. */
  function stateIn(script: string): Record<string, unknown> {
    return JSON.parse(/const state = (\{.*\});/.exec(script)?.[1] ?? "");
  }

  test("the widget contains the state, is under 3 KB and may be cached for 5 minutes", async () => {
    const { app, api } = await createShop();
    await using _ = app;
    const well = await app.call("/status/shop/widget.js");
    expect(well.headers.get("content-type")).toBe("text/javascript;charset=utf-8");
    expect(well.headers.get("cache-control")).toStartWith("public, max-age=300,");
    expect(stateIn(well.text)).toMatchObject({
      name: "Shop",
      text: "All systems operational",
      url: "https://status.test/status/shop",
      isWell: true,
    });
    const id = await report(app, `${"Long ".repeat(30)}name $& </script>`, api);
    const bad = await app.call("/status/shop/widget.js");
    expect(Buffer.byteLength(bad.text)).toBeLessThan(3 * 1_024);
    expect(stateIn(bad.text)).toMatchObject({
      url: `https://status.test/status/shop/incidents/${id}`,
      isWell: false,
    });
    expect(bad.headers.get("etag")).not.toBe(well.headers.get("etag"));
  });

  test("the widget shows the headline while several incidents are open", async () => {
    const { app, api } = await createShop();
    await using _ = app;
    await report(app, "One", api);
    await report(app, "Two", api);
    expect(stateIn((await app.call("/status/shop/widget.js")).text)).toMatchObject({
      text: "Partial system outage",
    });
  });

  test("the widget does not exist for a private page", async () => {
    const { app } = await createShop();
    await using _ = app;
    expect((await app.call("/status/inside/widget.js")).status).toBe(404);
  });
});
