import { describe, expect, test } from "bun:test";
import { createTestApp } from "../support/app";
import { ACCOUNT, HTML, KEYS, makeKey } from "../support/dashboard";
import { readHtml } from "../support/html";

describe("incomplete paths of the dashboard", () => {
  for (const { path, to, status } of [
    { path: "/admin/", to: "/admin", status: 308 },
    { path: "/admin/settings", to: ACCOUNT, status: 303 },
  ]) {
    test(`${path} redirects a signed-in user to ${to}`, async () => {
      await using app = await createTestApp();
      const session = await app.signedIn("viewer");
      const answer = await app.call(path, { session });
      expect([answer.status, answer.headers.get("location")]).toEqual([status, to]);
      expect((await app.call(to, { session })).status).toBe(200);
    });

    test(`${path} redirects to the sign-in page without a session`, async () => {
      await using app = await createTestApp();
      const answer = await app.call(path, { headers: HTML });
      expect(answer.status).toBe(303);
      expect(answer.headers.get("location")).toStartWith("/admin/sign-in");
    });
  }
});

describe("redirects to the sign-in page", () => {
  test("a path that contains a key value is not used as return path", async () => {
    await using app = await createTestApp();
    const { value, id } = await makeKey(app, await app.signedIn("admin"));
    const pasted = await app.call(`${KEYS}/${value}`, { headers: HTML });
    expect([pasted.status, pasted.headers.get("location")]).toEqual([303, "/admin/sign-in"]);
    const named = await app.call(`${KEYS}/${id}`, { headers: HTML });
    expect(named.headers.get("location")).toBe(
      `/admin/sign-in?next=${encodeURIComponent(`${KEYS}/${id}`)}`,
    );
  });
});

describe("error pages", () => {
  test("an error page links back to the dashboard only below /admin", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("viewer");
    const back = "Back to the dashboard";
    expect((await app.call(KEYS, { session, headers: HTML })).text).toContain(back);
    expect((await app.call("/administration", { session, headers: HTML })).text).not.toContain(
      back,
    );
  });

  test("an error page without a session has its style, script, code and request id", async () => {
    await using app = await createTestApp();
    for (const path of ["/nothing", "/status/nothing", "/admin/join/x/y"]) {
      const { status, text } = await app.call(path, { headers: HTML });
      expect([path, status]).toEqual([path, 404]);
      const page = readHtml(text);
      const files = [...page.attributes("link", "href"), ...page.attributes("script", "src")];
      expect(files).toHaveLength(3);
      for (const file of files) expect((await app.call(file)).status).toBe(200);
      expect(page.texts(".word-mark")).toEqual(["Allclear"]);
      expect(page.texts(".plain-card h1")).toEqual(["Not found"]);
      expect(page.texts(".plain-foot")[0]).toMatch(/^404 not_found · request req_\w+$/);
      expect(page.attributes(".plain-card a.primary", "href")).toEqual([
        path.startsWith("/admin") ? "/admin" : "/",
      ]);
    }
  });

  test("a button pressed after its session ended shows the sign-in form", async () => {
    await using app = await createTestApp();
    const answer = await app.call(`${KEYS}/key_1/revoke`, { form: {}, headers: HTML });
    expect(answer.status).toBe(401);
    const page = readHtml(answer.text);
    expect(page.texts("h1")).toEqual(["Sign in"]);
    expect(page.attributes(".plain-card form", "action")).toEqual(["/admin/sign-in"]);
  });
});
