import { describe, expect, test } from "bun:test";
import { storeFirstRun } from "../../../../src/first-run";
import type { CreateMonitorBody } from "../../../../src/features/monitors/wire";
import type { CreateWebhookBody } from "../../../../src/features/webhooks/wire";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { createTestApp, type TestApp } from "../../../support/app";
import { openOverview } from "../../../support/overview";
import { createMonitor, createWebhook } from "../../../support/examined";

const HIDE = "/admin/first-steps/hide";
const SHOW = "/admin/first-steps/show";

async function stepsOf(app: TestApp, session: string) {
  const { page } = await openOverview(app, session);
  return {
    done: page.texts("#first-steps .is-done .row-title"),
    next: page.attributes("#first-steps .is-next .button", "href"),
    primary: page.attributes("main .button.primary", "href"),
    count: page.texts("#first-steps .count"),
  };
}

const addMonitor = ({ ctx }: TestApp) =>
  ctx.db.write((tx) => {
    const body = { type: "http", name: "Shop", config: { url: "https://shop.example.com/" } };
    createMonitor(ctx, tx, body as CreateMonitorBody, CLI_ACTOR);
  });

const addWebhook = ({ ctx }: TestApp) =>
  ctx.db.write((tx) => {
    const body = { url: "https://hooks.example.com/", events: ["*"] } as CreateWebhookBody;
    createWebhook(ctx, tx, body, CLI_ACTOR);
  });

describe("the first steps", () => {
  test("each step is ticked by itself, the next one has the only primary button, and they go at the end", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    await storeFirstRun(app.ctx);
    expect(await stepsOf(app, session)).toEqual({
      done: [],
      next: ["/admin/pages/new"],
      primary: ["/admin/pages/new"],
      count: ["0 of 5 done"],
    });
    await app.page({ slug: "acme" });
    expect(await stepsOf(app, session)).toEqual({
      done: ["Create your page", "Add a component"],
      next: ["/admin/monitors/new"],
      primary: ["/admin/monitors/new"],
      count: ["2 of 5 done"],
    });
    await addMonitor(app);
    await addWebhook(app);
    const { next } = await stepsOf(app, session);
    expect(next).toEqual(["/admin/settings/keys/new"]);
    await app.createKey();
    expect(await stepsOf(app, session)).toEqual({
      done: [],
      next: [],
      primary: ["/admin/incidents/new"],
      count: [],
    });
  });

  test("every step leads to a form that opens", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.page({ slug: "acme" }, []);
    const { page } = await openOverview(app, session);
    const paths = page.attributes("#first-steps .row-side .button", "href");
    expect(paths).toHaveLength(4);
    for (const path of paths) expect((await app.call(path, { session })).status).toBe(200);
  });

  test("problems of the sample page need no attention", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    await storeFirstRun(app.ctx);
    const { titles, page } = await openOverview(app, session);
    expect(titles).toEqual([]);
    expect(page.texts("#last-day")).toEqual([]);
    expect(page.texts("#health h2")).toEqual(["No components yet"]);
  });

  test("an admin hides the first steps for everyone, once", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.page();
    const count = () =>
      app.audit().filter(({ action }) => action === "settings.first_steps").length;
    for (let time = 0; time < 2; time++) {
      const answer = await app.call(HIDE, { session, form: {} });
      expect(answer.status).toBe(303);
      expect(answer.headers.get("location")).toBe("/admin");
    }
    expect(count()).toBe(1);
    for (const role of ["owner", "admin"] as const) {
      expect((await stepsOf(app, await app.signedIn(role))).count).toEqual([]);
    }
  });

  test("hidden first steps can be shown again, with a button that disappears when all are done", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const again = async (as = session) =>
      (await openOverview(app, as)).page.attributes("main .steps-again form", "action");
    expect(await again()).toEqual([]);
    await app.call(HIDE, { session, form: {} });
    // Also before the first page exists.
    expect(await again()).toEqual([SHOW]);
    await app.page();
    expect(await again()).toEqual([SHOW]);
    expect(await again(await app.signedIn("editor"))).toEqual([]);
    const shown = await app.call(SHOW, { session, form: {} });
    expect([shown.status, shown.headers.get("location")]).toEqual([303, "/admin"]);
    expect(await again()).toEqual([]);
    expect((await stepsOf(app, session)).count).toEqual(["2 of 5 done"]);
    expect(app.audit().at(-1)?.summary).toBe("Showed the first steps again");
    await app.call(HIDE, { session, form: {} });
    await addMonitor(app);
    await addWebhook(app);
    await app.createKey();
    expect(await again()).toEqual([]);
  });

  test.each(["editor", "viewer"] as const)(
    "the overview of a %s has no first steps, and hiding them is refused",
    async (role) => {
      await using app = await createTestApp();
      await app.page();
      const session = await app.signedIn(role);
      expect((await stepsOf(app, session)).count).toEqual([]);
      for (const path of [HIDE, SHOW]) {
        // oxlint-disable-next-line no-await-in-loop
        expect((await app.call(path, { session, form: {} })).status).toBe(403);
      }
      expect((await stepsOf(app, await app.signedIn("owner"))).count).toEqual(["2 of 5 done"]);
    },
  );
});
