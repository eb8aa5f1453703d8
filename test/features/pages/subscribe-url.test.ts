import { expect, test } from "bun:test";
import { createTestApp } from "../../support/app";

test("the page resource has the address of the page to subscribe; a private page has none", async () => {
  await using app = await createTestApp();
  const key = await app.keyWith("read:status");
  const urlOf = async (slug: string) =>
    (await app.call(`/api/v1/status/${slug}`, { key })).body.page.subscribe_url;
  await app.page({ slug: "open", name: "Open" });
  await app.page({ slug: "own", name: "Own", custom_domains: ["status.own.example"] });
  await app.page({ slug: "closed", name: "Closed", visibility: "private" });
  expect(await urlOf("open")).toBe("https://status.test/status/open/subscribe");
  expect(await urlOf("own")).toBe("https://status.own.example/status/own/subscribe");
  expect(await urlOf("closed")).toBeNull();
});
