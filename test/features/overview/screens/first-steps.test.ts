import { describe, expect, test } from "bun:test";
import { storeFirstRun } from "../../../../src/first-run";
import type { CreateMonitorBody } from "../../../../src/features/monitors/wire";
import type { CreateWebhookBody } from "../../../../src/features/webhooks/wire";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { createTestApp, type TestApp } from "../../../support/app";
import { openOverview } from "../../../support/overview";
import { KEY_FIELDS, NEW_KEY, openForm } from "../../../support/dashboard";
import { createMonitor, createWebhook } from "../../../support/examined";
import { readHtml } from "../../../support/html";

const HIDE = "/admin/first-steps/hide";
const SHOW = "/admin/first-steps/show";

const pathOf = (href: string) => href.split("?", 1)[0];

async function stepsOf(app: TestApp, session: string) {
  const { page } = await openOverview(app, session);
  return {
    done: page.texts("#first-steps .is-done .row-title"),
    next: page.attributes("#first-steps .is-next .button", "href").map(pathOf),
    primary: page.attributes("main .button.primary", "href").map(pathOf),
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
  test("each step is ticked by itself, the next one has the only primary button, and they end with a notification", async () => {
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
    expect((await stepsOf(app, session)).next).toEqual(["/admin/settings/webhooks/new"]);
    // The key is optional.
    await addWebhook(app);
    expect(await stepsOf(app, session)).toEqual({
      done: [],
      next: [],
      primary: ["/admin/incidents/new"],
      count: [],
    });
  });

  test("a key that exists before the notification is ticked and does not end the steps", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    await app.page({ slug: "acme" });
    await addMonitor(app);
    await app.createKey();
    const { done, next } = await stepsOf(app, session);
    expect(done).toContain("Create an API key");
    expect(next).toEqual(["/admin/settings/webhooks/new"]);
  });

  test("the steps offer an owner to import from another product until a monitor exists", async () => {
    await using app = await createTestApp();
    const offer = async (role: "owner" | "admin") =>
      (await openOverview(app, await app.signedIn(role))).page.attributes(
        "#first-steps p a",
        "href",
      );
    expect(await offer("owner")).toEqual(["/admin/settings/import"]);
    expect(await offer("admin")).toEqual([]);
    await app.page({ slug: "acme" });
    expect(await offer("owner")).toEqual(["/admin/settings/import"]);
    await addMonitor(app);
    expect(await offer("owner")).toEqual([]);
  });

  test("the message after a step links to the next one, unless the steps are hidden", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    const create = async (name: string) => {
      const form = { form: await openForm(app, "/admin/pages/new", session), name };
      const more = { visibility: "public", time_zone: "UTC", locale: "en" };
      const rest = { history_days: "90", join_minutes: "10", theme: "system", components: "API" };
      const answer = await app.call("/admin/pages/new", {
        session,
        form: { ...form, ...more, ...rest },
      });
      const location = answer.headers.get("location") ?? "";
      const page = readHtml((await app.call(location, { session })).text);
      return page.texts(".flash a").map((label, at) => {
        return [label, pathOf(page.attributes(".flash a", "href")[at] ?? "")];
      });
    };
    expect(await create("First")).toEqual([["Next: Create monitor", "/admin/monitors/new"]]);
    await app.call(HIDE, { session, form: {} });
    expect(await create("Second")).toEqual([]);
  });

  test("a new key leads on to the next step, then to the overview, and without the steps to the list", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    await app.page({ slug: "acme" });
    await addMonitor(app);
    const { page } = await openOverview(app, session);
    const [step = ""] = page
      .attributes("#first-steps a", "href")
      .filter((href) => href.startsWith(NEW_KEY));
    const leave = async (path: string) => {
      const form = await openForm(app, path, session);
      const [action = ""] = readHtml((await app.call(path, { session })).text).attributes(
        "main form[method=post]",
        "action",
      );
      const answer = await app.call(action, { session, form: { form, ...KEY_FIELDS } });
      expect(answer.status).toBe(200);
      const shown = readHtml(answer.text);
      const labels = shown.texts(".reveal .actions a");
      const at = labels.indexOf("I have stored it");
      return [
        shown.attributes(".reveal .actions a", "href")[at],
        ...shown.texts(".reveal .actions span.quiet-text"),
      ];
    };
    expect(await leave(step)).toEqual(["/admin/settings/webhooks/new", "Next: Create webhook"]);
    expect(await leave(NEW_KEY)).toEqual(["/admin/settings/keys"]);
    await addWebhook(app);
    expect(await leave(step)).toEqual(["/admin"]);
    expect(await leave(NEW_KEY)).toEqual(["/admin/settings/keys"]);
  });

  test("a rejected key form keeps the step in its action", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("owner");
    const path = `${NEW_KEY}?step=key`;
    const form = await openForm(app, path, session);
    const rejected = await app.call(path, { session, form: { form, ...KEY_FIELDS, name: "" } });
    expect(rejected.status).toBe(422);
    expect(readHtml(rejected.text).attributes("main form[method=post]", "action")).toContain(path);
  });

  test("the form of the first monitor starts with the first component of the page", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { components } = await app.page({ slug: "acme" }, ["Shop", "Checkout"]);
    const { page } = await openOverview(app, session);
    expect(page.attributes("#first-steps a", "href")).toContain(
      `/admin/monitors/new?component=${components["Shop"]}`,
    );
  });

  test("before anything is monitored or has happened, the overview shows the steps and the health only", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.page({ slug: "acme" });
    const shown = async () => {
      const { page } = await openOverview(app, session);
      return ["first-steps", "health", "attention", "incidents", "changes", "pages"].filter(
        (id) => page.texts(`#${id}`).length > 0,
      );
    };
    expect(await shown()).toEqual(["first-steps", "health"]);
    await addMonitor(app);
    expect(await shown()).toEqual([
      "first-steps",
      "health",
      "attention",
      "incidents",
      "changes",
      "pages",
    ]);
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
