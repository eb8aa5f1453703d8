import { describe, expect, test } from "bun:test";
import { countChanges } from "../../src/db/statements";
import { CLI_ACTOR } from "../../src/base/actor";
import { deleteComponent } from "../../src/features/components/components";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { KEYS, NEW_KEY, openForm, sendKeyForm, USERS } from "../support/dashboard";
import { readHtml } from "../support/html";
import { PAGE_FIELDS } from "../support/page-dashboard";

const HOUR = 60 * 60_000;
const NEW_PAGE = "/admin/pages/new";
const LIVE = { "allclear-live": "1" };

/** Requests a screen as the script does. */
function refresh(app: TestApp, path: string, session: string, etag = "") {
  return app.call(path, { session, headers: { ...LIVE, "if-none-match": etag } });
}

describe("the live refresh of the dashboard", () => {
  test.each(["/admin", "/admin/monitors", NEW_KEY, USERS])(
    "an unchanged screen answers 304 although its clock and form token differ: %s",
    async (path) => {
      await using app = await createTestApp();
      await app.page({ slug: "acme" });
      const session = await app.signedIn("owner");
      const first = await refresh(app, path, session);
      expect(first.status).toBe(200);
      expect(first.text).toContain('id="main"');
      await app.clock.advance(999);
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
      const same = await refresh(app, path, session, etag);
      expect([same.status, same.text]).toEqual([304, ""]);
      expect(same.headers.get("cache-control")).toBe("no-store");
    },
  );

  test("a changed screen answers 200 with another tag", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    const etag = (await refresh(app, KEYS, session)).headers.get("etag") ?? "";
    await app.createKey({ name: "Deploy bot" });
    const changed = await refresh(app, KEYS, session, etag);
    expect(changed.status).toBe(200);
    expect(changed.text).toContain("Deploy bot");
    expect(changed.headers.get("etag")).not.toBe(etag);
  });

  test("a refresh does not extend the idle time of the session and sets no cookie", async () => {
    await using app = await createTestApp();
    const [left, used] = [await app.signedIn("owner"), await app.signedIn("owner")];
    for (let hour = 0; hour < 24; hour++) {
      const answer = await refresh(app, "/admin", left);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("set-cookie")).toBeNull();
      await app.call("/admin", { session: used });
      await app.clock.advance(HOUR);
    }
    expectProblem(await refresh(app, "/admin", left), "sign_in_required");
    expect((await app.call("/admin", { session: used })).status).toBe(200);
  });

  test("a refresh writes nothing", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const session = await app.signedIn("owner");
    const written = () => countChanges(app.ctx.db, {})?.count;
    await app.clock.advance(HOUR);
    const before = written();
    for (const path of ["/admin", "/admin/monitors", "/admin/incidents/new", KEYS, USERS]) {
      expect((await refresh(app, path, session)).status).toBe(200);
    }
    await app.clock.advance(5 * 60_000);
    expect(written()).toBe(before);
    await app.call("/admin", { session });
    await app.clock.advance(5 * 60_000);
    expect(written()).not.toBe(before);
  });

  test("the screen of a deleted object answers 404, and a screen that the role no longer opens 403", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({ slug: "acme" });
    const path = `/admin/components/${components["API"]}`;
    const session = await app.signedIn("viewer");
    expect((await refresh(app, path, session)).status).toBe(200);
    await app.ctx.db.write((tx) =>
      deleteComponent(app.ctx, tx, components["API"] ?? "", CLI_ACTOR),
    );
    expect((await refresh(app, path, session)).status).toBe(404);
    expect((await refresh(app, KEYS, session)).status).toBe(403);
  });

  test("a form that is sent with the header of a refresh counts as a use of the session", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    await app.clock.advance(23 * HOUR);
    await app.call("/admin/settings/keys/new", { session, headers: LIVE, form: {} });
    await app.clock.advance(2 * HOUR);
    expect((await app.call("/admin", { session })).status).toBe(200);
  });

  test("a refresh leaves the message of the last action to the screen that the person opens", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    const form = { form: await openForm(app, NEW_PAGE, session), ...PAGE_FIELDS };
    const created = await app.call(NEW_PAGE, { session, form });
    expect(created.status).toBe(303);
    const path = created.headers.get("location") ?? "";
    expect((await refresh(app, path, session)).text).not.toContain("The page was created.");
    expect((await app.call(path, { session })).text).toContain("The page was created.");
  });

  test("a screen names its path for the script, and shows the time and a link without one", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    const page = readHtml((await app.call("/admin/monitors?q=a%22b", { session })).text);
    expect(page.attributes(".live", "data-live-path")).toEqual(["/admin/monitors?q=a%22b"]);
    expect(page.attributes(".live a", "href")).toEqual(["/admin/monitors?q=a%22b"]);
    expect(page.texts(".live")).toEqual(["As of 12:00 UTC · Reload"]);
  });

  test("an answer to a form is shown once and is not refreshed", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    const revealed = await sendKeyForm(app, session);
    expect(revealed.status).toBe(200);
    expect(readHtml(revealed.text).texts(".live")).toEqual([]);
    const rejected = await sendKeyForm(app, session, { name: "" });
    expect(rejected.status).toBe(422);
    expect(readHtml(rejected.text).texts(".live")).toEqual([]);
  });

  test("a refresh without a session answers 401 instead of the sign-in page", async () => {
    await using app = await createTestApp();
    const answer = await app.call("/admin", { headers: LIVE });
    expectProblem(answer, "sign_in_required");
    expect(answer.status).toBe(401);
  });
});
