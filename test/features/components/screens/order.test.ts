import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { expectProblem } from "../../../support/app";
import {
  type ArrangedSite,
  COMPONENTS,
  createArrangedSite,
  outcomeOf,
} from "../../../support/grouped-site";
import { HTML } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { createComponent } from "../../../support/examined";

const ORDER = `${COMPONENTS}/order`;
const AS_IT_IS = "Docs | Core: API, Web | Edge: CDN";

const pathOf = ({ ids }: ArrangedSite, name: string) => {
  const id = ids[name] ?? "";
  return id.startsWith("grp_") ? `${COMPONENTS}/groups/${id}` : `${COMPONENTS}/${id}`;
};

describe("a submitted order of components", () => {
  test("a submitted order is stored, with components in the group that they follow", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const item = site.sequence("CDN", "Edge", "Web", "Docs", "Core", "API");
    const answer = await site.app.call(ORDER, { session, form: { page: site.page.id, item } });
    expect(await outcomeOf(site, answer, session)).toEqual({
      path: `${COMPONENTS}?page=acme`,
      text: "The order was changed.",
    });
    expect(await site.outline()).toBe("CDN | Edge: Web, Docs | Core: API");
    expect(site.app.audit().at(-1)).toMatchObject({ action: "component.order", actorKind: "user" });
  });

  test("submitting the current order changes nothing and shows “Nothing was changed.”", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const item = site.sequence("Docs", "Core", "API", "Web", "Edge", "CDN");
    const before = await site.state();
    const answer = await site.app.call(ORDER, { session, form: { page: site.page.id, item } });
    expect((await outcomeOf(site, answer, session)).text).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("an order without a newly added component is a conflict that shows the current list", async () => {
    await using site = await createArrangedSite();
    const { app, page } = site;
    const session = await app.signedIn("admin");
    const item = site.sequence("Edge", "CDN", "Core", "API", "Web", "Docs");
    await app.ctx.db.write((tx) => {
      const at = { position: 9, groupId: null, managedBy: null };
      return createComponent(app.ctx, tx, page, { name: "New" }, at, CLI_ACTOR);
    });
    const before = await site.state();
    const answer = await app.call(ORDER, { session, form: { page: page.id, item } });
    expect(answer.status).toBe(409);
    const shown = readHtml(answer.text);
    expect(shown.texts('[role="alert"]')[0]).toContain("The order was not saved");
    expect(shown.texts(".order-name")).toEqual(["Docs", "New", "API", "Web", "CDN"]);
    expect(await site.state()).toEqual(before);
  });

  test("only admins and owners can change the order, and not from another site", async () => {
    await using site = await createArrangedSite();
    const { app } = site;
    const item = site.sequence("Edge", "CDN", "Core", "API", "Web", "Docs");
    const form = { page: site.page.id, item };
    const sessions = [await app.signedIn("viewer"), await app.signedIn("editor")];
    const admin = await app.signedIn("admin");
    const before = await site.state();
    for (const session of sessions) {
      expectProblem(await app.call(ORDER, { session, form }), "insufficient_role");
    }
    const headers = { origin: "https://elsewhere.test" };
    expectProblem(await app.call(ORDER, { session: admin, form, headers }), "cross_site_request");
    expect(await site.state()).toEqual(before);
    expect((await app.call(ORDER, { session: admin, form })).status).toBe(303);
    expect(await site.outline()).not.toBe(AS_IT_IS);
  });

  test("a GET of the address of the order redirects to the list of components", async () => {
    await using site = await createArrangedSite();
    const answer = await site.app.call(ORDER, { session: await site.app.signedIn("viewer") });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(COMPONENTS);
  });
});

describe("the buttons that move a component or group", () => {
  const MOVES: { name: string; direction: "up" | "down"; outline: string }[] = [
    { name: "API", direction: "down", outline: "Docs | Core: Web, API | Edge: CDN" },
    { name: "Web", direction: "up", outline: "Docs | Core: Web, API | Edge: CDN" },
    { name: "API", direction: "up", outline: "Docs, API | Core: Web | Edge: CDN" },
    { name: "Web", direction: "down", outline: "Docs | Core: API | Edge: Web, CDN" },
    { name: "Docs", direction: "down", outline: " | Core: Docs, API, Web | Edge: CDN" },
    { name: "Core", direction: "down", outline: "Docs | Edge: CDN | Core: API, Web" },
    { name: "Edge", direction: "up", outline: "Docs | Edge: CDN | Core: API, Web" },
  ];

  for (const { name, direction, outline } of MOVES) {
    test(`the button of ${name} moves it ${direction} by one place`, async () => {
      await using site = await createArrangedSite();
      const session = await site.app.signedIn("admin");
      const path = `${pathOf(site, name)}/move`;
      const answer = await site.app.call(path, { session, form: { direction } });
      expect(await outcomeOf(site, answer, session)).toEqual({
        path: `${COMPONENTS}?page=acme#${site.ids[name]}`,
        text: `“${name}” was moved ${direction}.`,
      });
      expect(await site.outline()).toBe(outline);
    });
  }

  test.each([
    { name: "Docs", direction: "up" },
    { name: "CDN", direction: "down" },
    { name: "Core", direction: "up" },
    { name: "Edge", direction: "down" },
  ])("moving $name $direction beyond the end changes nothing", async ({ name, direction }) => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const before = await site.state();
    const path = `${pathOf(site, name)}/move`;
    const answer = await site.app.call(path, { session, form: { direction } });
    expect((await outcomeOf(site, answer, session)).text).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("two moves at once are both applied to the stored order", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = { direction: "up" };
    const path = `${pathOf(site, "CDN")}/move`;
    const send = () => site.app.call(path, { session, form });
    expect((await Promise.all([send(), send()])).map(({ status }) => status)).toEqual([303, 303]);
    expect(await site.outline()).toBe("Docs | Core: API, CDN, Web | Edge:");
  });

  test("each component and group in the list has a form that moves it up or down", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const page = readHtml((await site.app.call(COMPONENTS, { session })).text);
    const actions = page.attributes(".order-move", "action");
    for (const name of ["Docs", "API", "Core"]) {
      expect(actions).toContain(`${pathOf(site, name)}/move`);
    }
    expect(new Set(page.attributes(".order-move button", "name"))).toEqual(new Set(["direction"]));
    expect(new Set(page.attributes(".order-move button", "value"))).toEqual(
      new Set(["up", "down"]),
    );
  });

  test("moves by editors, in unknown directions and of unknown objects are rejected", async () => {
    await using site = await createArrangedSite();
    const { app } = site;
    const [admin, editor] = [await app.signedIn("admin"), await app.signedIn("editor")];
    const before = await site.state();
    const path = `${pathOf(site, "API")}/move`;
    const up = { direction: "up" };
    expectProblem(await app.call(path, { session: editor, form: up }), "insufficient_role");
    const sideways = { session: admin, form: { direction: "sideways" } };
    expectProblem(await app.call(path, sideways), "validation_failed");
    for (const gone of [`${COMPONENTS}/cmp_none/move`, `${COMPONENTS}/groups/grp_none/move`]) {
      const answer = await app.call(gone, { session: admin, form: up, headers: HTML });
      expect(answer.status).toBe(404);
    }
    expect(await site.state()).toEqual(before);
  });
});
