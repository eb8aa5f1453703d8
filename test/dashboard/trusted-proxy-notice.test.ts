import { expect, test } from "bun:test";
import { createTestApp } from "../support/app";

const FORWARDED = { "x-forwarded-for": "198.51.100.1" };
const WARNING = "add it to ALLCLEAR_TRUSTED_PROXIES";

test("every screen warns about a proxy that is not trusted", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("viewer");
  expect((await app.call("/admin", { session })).text).not.toContain(WARNING);
  for (let i = 0; i < 20; i++) await app.call("/", { from: "10.0.0.2", headers: FORWARDED });
  for (const path of ["/admin", "/admin/settings/account"]) {
    const { text } = await app.call(path, { session });
    expect(text).toContain(WARNING);
    expect(text).toContain("10.0.0.2");
  }
});

test("a trusted proxy causes no warning", async () => {
  await using app = await createTestApp({ env: { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.2" } });
  const session = await app.signedIn("viewer");
  for (let i = 0; i < 30; i++) await app.call("/", { from: "10.0.0.2", headers: FORWARDED });
  expect((await app.call("/admin", { session })).text).not.toContain(WARNING);
});

test("the warning never names a public address", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("viewer");
  for (let i = 0; i < 30; i++) await app.call("/", { from: "198.51.100.66", headers: FORWARDED });
  expect((await app.call("/admin", { session })).text).not.toContain(WARNING);
  for (let i = 0; i < 20; i++) await app.call("/", { from: "10.0.0.2", headers: FORWARDED });
  expect((await app.call("/admin", { session })).text).toContain("10.0.0.2");
});
