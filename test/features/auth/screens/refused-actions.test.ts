import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import { HTML, NO_BASE_URL, userWithPassword } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard, MONITORS } from "../../../support/monitor-dashboard";
import { returnTo, sendWithoutSession, signInOn } from "../../../support/refused-form";

const EMAIL = "ada@example.com";
const GENERAL = "/admin/settings/general";
const TAG = `${MONITORS}/selected/tag`;

/** Returns the actions in the audit log, except for signing in. */
function changesOf(app: TestApp): string[] {
  return app
    .audit()
    .map(({ action }) => action)
    .filter((action) => action !== "user.sign_in");
}

describe("an action whose session has ended", () => {
  test.each([
    { referer: "http://status.test/admin/monitors?state=down", next: "/admin/monitors?state=down" },
    { referer: "http://evil.example/admin/monitors", next: "/admin" },
    { referer: "http://status.test/admin/nowhere", next: "/admin" },
    { referer: "http://status.test/admin/sign-in", next: "/admin" },
    { referer: "http://status.test/status/shop", next: "/admin" },
    { referer: "no address", next: "/admin" },
  ])("a button leads back to the screen that held it: $referer", async ({ referer, next }) => {
    await using app = await createTestApp();
    await userWithPassword(app, EMAIL);
    const headers = { ...HTML, referer };
    const answer = await app.call("/admin/monitors/mon_1/pause", { form: {}, headers });
    expect(answer.status).toBe(401);
    expect(readHtml(answer.text).texts(".notice .strong")).toContain("Your session has ended");
    const { headers: back } = await signInOn(app, answer, EMAIL);
    expect(back.get("location")).toBe(next);
  });

  test("a button leads back behind a proxy that replaces the Host header", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, EMAIL);
    const headers = { ...HTML, referer: "https://status.test/admin/monitors" };
    const sent = { form: {}, headers, host: "internal:8080" };
    const answer = await app.call("/admin/monitors/mon_1/pause", sent);
    expect(answer.status).toBe(401);
    const { headers: back } = await signInOn(app, answer, EMAIL);
    expect(back.get("location")).toBe("/admin/monitors");
  });

  test.each([
    { path: GENERAL, name: "public_address", typed: "https://typed.example.com" },
    { path: `${GENERAL}/networks`, name: "allowed_networks", typed: "10.77.0.0/16" },
  ])("the $name of Settings → General comes back as it was typed", async (given) => {
    const { path, name, typed } = given;
    await using app = await createTestApp({ env: NO_BASE_URL });
    await userWithPassword(app, EMAIL);
    const before = changesOf(app);
    const { shown } = await returnTo(app, path, { [name]: typed }, EMAIL);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain(typed);
    expect(readHtml(shown.text).texts(".notice .strong")).toEqual(["Nothing was saved yet"]);
    expect(changesOf(app)).toEqual(before);
  });

  test("the tag for selected monitors comes back with the monitors and the filters of the list", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    await userWithPassword(app, EMAIL);
    const id = [await dashboard.make({ name: "A" }), await dashboard.make({ name: "B" })];
    const before = changesOf(app);
    const form = { id, tag: "eu west", action: "remove" };
    const refused = await sendWithoutSession(app, `${TAG}?q=x&state=up`, form);
    expect(refused.status).toBe(401);
    const { shown } = await returnTo(app, `${TAG}?q=x&state=up`, form, EMAIL);
    expect(shown.status).toBe(200);
    const html = readHtml(shown.text);
    expect(html.attributes("[name=tag]", "value")).toEqual(["eu west"]);
    expect(html.attributes("[name=action][checked]", "value")).toEqual(["remove"]);
    expect(html.attributes("[name=id]", "value")).toEqual(id);
    expect(html.attributes("form[action*=tag]", "action")).toEqual([`${TAG}?q=x&state=up`]);
    expect(changesOf(app)).toEqual(before);
  });
});
