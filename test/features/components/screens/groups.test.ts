import { describe, expect, test } from "bun:test";
import { listGroups } from "../../../../src/features/components/store";
import { expectProblem } from "../../../support/app";
import {
  type ArrangedSite,
  COMPONENTS,
  createArrangedSite,
  outcomeOf,
} from "../../../support/grouped-site";
import { type Fields, HTML, openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const NEW = `${COMPONENTS}/groups/new`;

const rowOf = ({ app, page }: ArrangedSite, name: string) =>
  listGroups(app.ctx.db, { pageId: page.id }).find((row) => row.name === name);

async function newForm(site: ArrangedSite, session: string): Promise<Fields> {
  const form = await openForm(site.app, `${NEW}?page=acme`, session);
  return { form, page: site.page.id, name: "Asia", description: "", collapse: "collapsed" };
}

describe("the form for a new group", () => {
  test("a new group is added last and once, even if its form is submitted twice at once", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session);
    const send = () => site.app.call(NEW, { session, form });
    const answers = await Promise.all([send(), send()]);
    const row = rowOf(site, "Asia");
    for (const answer of answers) {
      expect((await outcomeOf(site, answer, session)).path).toBe(
        `${COMPONENTS}?page=acme#${row?.id}`,
      );
    }
    expect(row).toMatchObject({ collapse: "collapsed", description: null, managedBy: null });
    expect(await site.outline()).toBe("Docs | Core: API, Web | Edge: CDN | Asia:");
  });

  test("an invalid new group is redisplayed with an error for each field, and nothing is added", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = { ...(await newForm(site, session)), name: "", collapse: "folded" };
    const before = await site.state();
    const answer = await site.app.call(NEW, { session, form });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      name: "Name is empty.",
      collapse:
        "Display on the page must be one of expanded, collapsed, collapsed_unless_incident.",
    });
    expect(await site.state()).toEqual(before);
  });

  test("only admins and owners can add a group, and only to an existing page", async () => {
    await using site = await createArrangedSite();
    const { app } = site;
    const [admin, editor] = [await app.signedIn("admin"), await app.signedIn("editor")];
    const form = await newForm(site, admin);
    const before = await site.state();
    expectProblem(await app.call(NEW, { session: editor }), "insufficient_role");
    expectProblem(await app.call(NEW, { session: editor, form }), "insufficient_role");
    const gone = { session: admin, form: { ...form, page: "page_none" }, headers: HTML };
    expect((await app.call(NEW, gone)).status).toBe(404);
    expect(await site.state()).toEqual(before);
  });
});

describe("the form of a group", () => {
  const FIELDS = { name: "Core", description: "", collapse: "expanded" };
  const pathOf = ({ ids }: ArrangedSite) => `${COMPONENTS}/groups/${ids["Core"]}`;

  test("the form of a group changes it, and an outdated form is a conflict", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const path = pathOf(site);
    const shown = await site.app.call(path, { session });
    expect(typedIn(shown.text, "name")).toEqual(["Core"]);
    expect(typedIn(shown.text, "collapse")).toEqual(["expanded"]);
    const [version = ""] = typedIn(shown.text, "version");
    const form = { ...FIELDS, version, collapse: "collapsed_unless_incident" };
    const answer = await site.app.call(path, { session, form });
    expect(await outcomeOf(site, answer, session)).toEqual({
      path: `${COMPONENTS}?page=acme#${site.ids["Core"]}`,
      text: "The group was changed.",
    });
    expect(rowOf(site, "Core")).toMatchObject({ collapse: "collapsed_unless_incident" });
    const before = await site.state();
    const stale = await site.app.call(path, { session, form: { ...form, name: "Heart" } });
    expect(stale.status).toBe(409);
    expect(readHtml(stale.text).texts('[role="alert"]')[0]).toContain("Someone changed this");
    expect(typedIn(stale.text, "name")).toEqual(["Heart"]);
    const same = await site.app.call(path, { session, form });
    expect((await outcomeOf(site, same, session)).text).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("an invalid group is redisplayed with its error, and nothing is changed", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const before = await site.state();
    const form = { ...FIELDS, version: "1", name: "x".repeat(256) };
    const answer = await site.app.call(pathOf(site), { session, form });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      name: "Name is 256 characters long; 255 is the most.",
    });
    expect(await site.state()).toEqual(before);
  });

  test("deleting a group asks for confirmation and leaves its components without a group", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const path = pathOf(site);
    const confirmation = await site.app.call(`${path}/delete`, { session });
    expect(readHtml(confirmation.text).texts("h1")).toEqual(["Delete “Core”?"]);
    const answer = await site.app.call(`${path}/delete`, { session, form: {} });
    expect(await outcomeOf(site, answer, session)).toEqual({
      path: `${COMPONENTS}?page=acme`,
      text: "The group “Core” was deleted. Its components are now without a group.",
    });
    expect(await site.outline()).toBe("Docs, API, Web | Edge: CDN");
    expect((await site.app.call(path, { session, headers: HTML })).status).toBe(404);
  });

  test("an editor cannot open, change or delete a group", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const path = pathOf(site);
    const before = await site.state();
    const form = { ...FIELDS, version: "1", name: "Mine" };
    for (const [at, options] of [
      [path, {}],
      [path, { form }],
      [`${path}/delete`, {}],
      [`${path}/delete`, { form: {} }],
    ] as const) {
      expectProblem(await site.app.call(at, { session, ...options }), "insufficient_role");
    }
    expect(await site.state()).toEqual(before);
  });
});
