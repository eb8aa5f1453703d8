import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../../support/app";
import { ACCOUNT, HTML } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";

const THEME = `${ACCOUNT}/theme`;

const themeOn = (html: string) => readHtml(html).attributes("html", "data-theme");

describe("the theme of the dashboard", () => {
  test("a user of any role chooses a theme, which every screen of the browser has", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("viewer");
    const answer = await app.call(THEME, { session, form: { theme: "dark", back: "account" } });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, ACCOUNT]);
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toBe(
      "allclear_theme=dark; Max-Age=34560000; Path=/admin; HttpOnly; SameSite=Lax; Secure",
    );
    const [pair = ""] = cookie.split(";");
    for (const path of ["/admin/sign-in", "/admin/nothing"]) {
      const { text } = await app.call(path, { headers: { ...HTML, cookie: pair } });
      expect([path, ...themeOn(text)]).toEqual([path, "dark"]);
    }
    const { headers } = new Request("http://status.test", {
      headers: { cookie: `__Host-allclear=${session}; ${pair}` },
    });
    const own = await app.call(ACCOUNT, { headers: { cookie: headers.get("cookie") ?? "" } });
    expect([own.status, ...themeOn(own.text)]).toEqual([200, "dark"]);
    expect(readHtml(own.text).attributes("button[aria-current]", "value")).toEqual(["dark"]);
  });

  test("the system's theme removes the cookie, and an unknown theme changes nothing", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const system = await app.call(THEME, { session, form: { theme: "system", back: "general" } });
    expect(system.headers.get("set-cookie")).toContain("Max-Age=0");
    expect(system.headers.get("location")).toBe("/admin/settings/general");
    const form = { theme: '"><script>', back: "https://evil.example" };
    const unknown = await app.call(THEME, { session, form });
    expect([unknown.headers.get("set-cookie"), unknown.headers.get("location")]).toEqual([
      null,
      ACCOUNT,
    ]);
    const cookie = 'allclear_theme="><script>';
    const { text } = await app.call("/admin/sign-in", { headers: { ...HTML, cookie } });
    expect(themeOn(text)).toEqual([]);
    expect(text).not.toContain("<script>");
  });
});
