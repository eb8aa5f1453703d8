import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../../support/app";
import { HTML, signIn, trySignIn, userWithPassword } from "../../../support/dashboard";
import { typedIn } from "../../../support/html";

const ADA = "ada@example.com";

const GOOD = [
  "/admin",
  "/admin?x=1",
  "/admin/settings/keys",
  "/admin/settings/keys?q=deploy%20bot&show=unused",
  "/admin/settings/keys/key_01kah2v9w0e0rs6x0h3ye0a1bc/rotate",
  "/admin/settings/keys/new?preset=ci-incident-bot",
  "/admin/a..b/.c/...",
];

const BAD = [
  "",
  "/",
  "//evil.test",
  "///evil.test",
  "//evil.test/admin",
  "/\\evil.test",
  "/\t/evil.test",
  "\\\\evil.test",
  "https://evil.test",
  "https://evil.test/admin",
  "https:/evil.test",
  "http:evil.test",
  "javascript:alert(1)",
  "data:text/html,x",
  "admin",
  " /admin",
  "/admin ",
  "/admin\n",
  "/administrator",
  "/admin.evil.test",
  "/admin@evil.test",
  "/admin:80",
  "/status/acme",
  "/api/v1/key",
  "/admin/../x",
  "/admin/..",
  "/admin/../../evil",
  "/admin/settings/..?x",
  "/admin/./x",
  "/admin/.",
  "/admin/%2e%2e/x",
  "/admin//evil.test",
  "/admin/\\evil.test",
  "/admin/",
  "/admin%0d%0aSet-Cookie:x=1",
  "/admin?x\r\nSet-Cookie: x=1",
  "/admin?\\evil",
  "/admin#fragment",
  "/admin/settings/keys#//evil.test",
  "/admin?x#y",
  "/admin/sign-out",
  "/admin/sign-in",
  "/admin/sign-in?next=/admin/sign-in",
];

describe("the return path of the sign-in page", () => {
  for (const next of GOOD) {
    test(`the sign-in page keeps a return path of the dashboard: ${next}`, async () => {
      await using app = await createTestApp();
      await userWithPassword(app, ADA);
      const page = await app.call(`/admin/sign-in?next=${encodeURIComponent(next)}`);
      expect(typedIn(page.text, "next")).toEqual([next]);
      const wrong = await trySignIn(app, ADA, "wrong", { next });
      expect(typedIn(wrong.text, "next")).toEqual([next]);
      const right = await trySignIn(app, ADA, undefined, { next });
      expect([right.status, right.headers.get("location")]).toEqual([303, next]);
    });
  }

  test("the sign-in page replaces any other return path by the first screen", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000" } });
    await userWithPassword(app, ADA);
    const session = await signIn(app, ADA);
    for (const [index, next] of BAD.entries()) {
      const path = `/admin/sign-in?next=${encodeURIComponent(next)}`;
      const page = await app.call(path);
      expect([next, ...typedIn(page.text, "next")]).toEqual([next, "/admin"]);
      // From an address of its own, since each has ten attempts a minute.
      const from = `203.0.113.${index + 10}`;
      const right = await trySignIn(app, ADA, undefined, { next, from });
      expect([next, right.status, right.headers.get("location")]).toEqual([next, 303, "/admin"]);
      const already = await app.call(path, { session });
      expect([next, already.headers.get("location")]).toEqual([next, "/admin"]);
    }
  });

  test("a request without a session leads through the sign-in page back to its address", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const desired = "/admin/settings/keys?q=a+b%26c&show=unused";
    const led = await app.call(desired, { headers: HTML });
    expect(led.status).toBe(303);
    const page = await app.call(led.headers.get("location") ?? "");
    const [next = ""] = typedIn(page.text, "next");
    const right = await trySignIn(app, ADA, undefined, { next });
    expect(right.headers.get("location")).toBe(desired);
  });

  test("a signed-in user is redirected to the return path at once", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const answer = await app.call("/admin/sign-in?next=%2Fadmin%2Fsettings%2Fkeys", { session });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin/settings/keys"]);
  });
});
