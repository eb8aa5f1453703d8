import { describe, expect, test } from "bun:test";
import { storeFirstRun } from "../../../../src/first-run";
import { readHtml } from "../../../support/html";
import { createPageDashboard, PAGE_FIELDS, PAGES, READERS } from "../../../support/page-dashboard";

/** Below a page's path. */
const SCREENS = ["", "/general", "/look", "/address", "/access", "/links/new", "/delete"];

describe("the list of pages", () => {
  test("the list of pages shows each page with path and visibility, the default one first", async () => {
    await using site = await createPageDashboard();
    await site.create({ visibility: "private" });
    const page = readHtml((await site.show(PAGES)).text);
    expect(page.texts("tbody .row-link")).toEqual(["Acme", "Northwind"]);
    expect(page.texts("tbody .cell-note")).toEqual(["/status/acme", "/status/northwind"]);
    expect(page.texts("tbody .chip")).toEqual(["Public", "Default", "Private"]);
    expect(page.attributes("tbody .row-link", "href")[0]).toBe(`${PAGES}/${site.id}`);
  });

  test("the list of pages can be ordered by its columns", async () => {
    await using site = await createPageDashboard();
    await site.app.clock.advance(1_000);
    await site.create({ visibility: "private" });
    const open = async (query: string) => readHtml((await site.show(PAGES + query)).text);
    const namesIn = async (query: string) => (await open(query)).texts("tbody .row-link");
    expect(await namesIn("?sort=-name")).toEqual(["Northwind", "Acme"]);
    expect(await namesIn("?sort=-changed")).toEqual(["Northwind", "Acme"]);
    expect(await namesIn("?sort=changed")).toEqual(["Acme", "Northwind"]);
    const page = await open("?sort=-name");
    expect(page.attributes("th[aria-sort]", "aria-sort")).toEqual(["descending"]);
    expect(page.attributes("th a", "href")[0]).toBe(PAGES);
  });

  test("every signed-in user can open the list of pages, and only admins are offered to create one", async () => {
    await using site = await createPageDashboard();
    const offers = async (session: string) =>
      readHtml((await site.show(PAGES, { session })).text).texts(".screen-head .actions a");
    expect(await offers(site.admin)).toEqual(["Create page"]);
    for (const role of READERS) expect(await offers(await site.app.signedIn(role))).toEqual([]);
    expect((await site.app.call(PAGES)).status).toBe(401);
  });

  test("an empty list of pages explains pages and names who can create one", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    const admins = readHtml((await site.show(PAGES)).text);
    expect(admins.texts(".empty a")).toEqual(["Create page"]);
    const session = await site.app.signedIn("editor");
    const editors = readHtml((await site.show(PAGES, { session })).text);
    expect(editors.texts(".empty a")).toEqual([]);
    expect(editors.texts(".empty .muted")[0]).toContain("Ask an admin to create one.");
  });

  test("the list of pages marks the sample page", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    await storeFirstRun(site.app.ctx);
    const page = readHtml((await site.show(PAGES)).text);
    expect(page.texts("tbody .chip")).toEqual(["Public", "Default", "Sample"]);
  });
});

describe("the screen of a page", () => {
  test("the screen of a page shows the same facts to all roles, and settings and deletion only to admins", async () => {
    await using site = await createPageDashboard();
    const path = `${PAGES}/${site.id}`;
    const look = async (session: string) => {
      const answer = await site.show(path, { session });
      expect(answer.status).toBe(200);
      return readHtml(answer.text);
    };
    const admins = await look(site.admin);
    expect(admins.texts(".tabs a")).toEqual([
      "Overview",
      "General",
      "Appearance",
      "Address",
      "E-mail",
      "Access",
      "Share",
    ]);
    expect(admins.texts(".screen-head .actions a")).toEqual([
      "View page",
      "Components",
      "Report incident",
      "Delete",
    ]);
    for (const role of READERS) {
      const readers = await look(await site.app.signedIn(role));
      expect(readers.texts(".tabs a")).toEqual(["Overview", "Share"]);
      expect(readers.texts(".screen-head .actions a")).toEqual(
        ["View page", "Components"].concat(role === "editor" ? "Report incident" : []),
      );
      expect(readers.texts(".facts dd")).toEqual(admins.texts(".facts dd"));
    }
    expect(admins.attributes(".screen-head .actions a", "href").slice(0, 2)).toEqual([
      "/status/acme",
      "/admin/components?page=acme",
    ]);
  });

  test("the screen of a page shows all its settings", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    const created = await site.create();
    const answer = await site.show(site.screenOf(created));
    const facts = readHtml(answer.text).texts(".facts dd").join("\n");
    const { name: _name, slug: _slug, visibility: _visibility, ...shown } = PAGE_FIELDS;
    for (const value of Object.values({ ...shown, theme: "Dark", accent: "#0b6b53" })) {
      expect(facts).toContain(String(value));
    }
    expect(readHtml(answer.text).texts("h1")).toEqual(["Northwind"]);
  });

  test("a page name that looks like markup is shown as text on every screen of the page", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    const name = `"><script>alert(1)</script>`;
    const path = site.screenOf(await site.create({ name, slug: "x" }));
    for (const screen of [PAGES, ...SCREENS.map((it) => path + it)]) {
      const { text, status } = await site.show(screen);
      expect(status).toBe(200);
      expect(text).not.toContain("<script>alert");
      expect(text).toContain("&lt;script>alert");
    }
  });

  test("the screens of an unknown page are not_found", async () => {
    await using site = await createPageDashboard();
    for (const screen of SCREENS) {
      expect((await site.show(`${PAGES}/page_none${screen}`)).status).toBe(404);
      expect((await site.show(`${PAGES}/${site.id}${screen}`)).status).toBe(200);
    }
  });
});

describe("permission to change pages", () => {
  const FORMS = ["general", "look", "address", "domains", "access", "default", "logo"];

  test("the forms of a page are forbidden to all but admins and owners", async () => {
    await using site = await createPageDashboard();
    const sessions = await Promise.all(READERS.map((role) => site.app.signedIn(role)));
    const paths = [
      `${PAGES}/new`,
      ...[...FORMS, "logo/remove", "delete", "slugs/old/release"].map(
        (form) => `${PAGES}/${site.id}/${form}`,
      ),
    ];
    const before = site.state();
    for (const path of paths) {
      for (const session of sessions) {
        const form = { ...PAGE_FIELDS, version: "1", slug: "acme" };
        expect([path, (await site.send(path, form, { session })).status]).toEqual([path, 403]);
      }
    }
    expect(site.state()).toEqual(before);
  });

  test("the forms of a page submitted from another site are rejected", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const headers = { "sec-fetch-site": "cross-site" };
    for (const form of FORMS) {
      const answer = await site.send(`${PAGES}/${site.id}/${form}`, PAGE_FIELDS, { headers });
      expect(answer.status).toBe(403);
    }
    expect(site.state()).toEqual(before);
  });
});
