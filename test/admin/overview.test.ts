import { expect, test } from "bun:test";
import { createTestApp } from "../support/app";
import { readHtml } from "../support/html";

test("the overview leads to every page, to a private one too, which opens", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "shop" });
  await app.page({ slug: "inside", visibility: "private" });
  const session = await app.signedIn("viewer");
  const overview = readHtml((await app.call("/admin", { session })).text);
  const paths = overview.attributes("tbody a", "href");
  expect(paths.sort()).toEqual(["/status/inside", "/status/shop"]);
  for (const path of paths) expect((await app.call(path, { session })).status).toBe(200);
});
