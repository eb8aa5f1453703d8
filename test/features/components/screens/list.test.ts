import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { createTestApp } from "../../../support/app";
import { type ArrangedSite, COMPONENTS, createArrangedSite } from "../../../support/grouped-site";
import { HTML } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { updatePage } from "../../../support/examined";

async function openList(site: ArrangedSite, session: string, path = COMPONENTS) {
  const answer = await site.app.call(path, { session });
  expect(answer.status).toBe(200);
  return readHtml(answer.text);
}

describe("the list of components", () => {
  test("the list of components follows the order of the page, components without a group first", async () => {
    await using site = await createArrangedSite();
    const page = await openList(site, await site.app.signedIn("viewer"));
    expect(page.texts(".order-head h2, .order-name")).toEqual([
      "Without a group",
      "Docs",
      "Core",
      "API",
      "Web",
      "Edge",
      "CDN",
    ]);
  });

  test.each([
    { role: "viewer", canSetStatus: false, canArrange: false },
    { role: "editor", canSetStatus: true, canArrange: false },
    { role: "admin", canSetStatus: true, canArrange: true },
    { role: "owner", canSetStatus: true, canArrange: true },
  ] as const)(
    "the list of components offers the actions that the role allows: $role",
    async (expected) => {
      await using site = await createArrangedSite();
      const page = await openList(site, await site.app.signedIn(expected.role));
      const links = page.texts("main a");
      expect(links.includes("Set status of API")).toBe(expected.canSetStatus);
      expect(links.includes("Add component")).toBe(expected.canArrange);
      expect(links.includes("Add group")).toBe(expected.canArrange);
      expect(links.includes("Edit Core group")).toBe(expected.canArrange);
      const buttons = page.texts("main button");
      for (const label of ["Move API up", "Move API down", "Move Core up", "Move Core down"]) {
        expect(buttons.includes(label)).toBe(expected.canArrange);
      }
      // Everything that can be done to a row is in its one menu.
      const menus = page.texts(".order summary").filter((text) => text === "Actions for API");
      expect(menus).toHaveLength(expected.canSetStatus ? 1 : 0);
      expect(page.texts(".order-row > a, .order-row > button, .order-row > form")).toEqual([]);
    },
  );

  test("the list of components names and links the incident that decides a status", async () => {
    await using site = await createArrangedSite();
    const { app, ids } = site;
    const key = await app.keyWith("write:incidents", "write:components");
    const json = {
      page: "acme",
      name: "Errors <at> checkout",
      body: "We look into it.",
      components: { [ids["API"] ?? ""]: "major_outage", [ids["Web"] ?? ""]: "partial_outage" },
    };
    const { body } = await app.call("/api/v1/incidents", { method: "POST", key, json });
    // Worse than what the incident says of it.
    const web = `/api/v1/components/${ids["Web"]}`;
    await app.call(web, { method: "PATCH", key, json: { status: "major_outage" } });
    const page = await openList(site, await app.signedIn("viewer"));
    expect(page.texts(".order-note")).toEqual([
      "Operational",
      "Major outage because of the incident Errors <at> checkout",
      "Major outage set by the API",
      "Operational",
    ]);
    expect(page.attributes(".order-note a", "href")).toEqual([`/admin/incidents/${body.id}`]);
  });

  test("the list of components loads its script only for users who may change the order", async () => {
    await using site = await createArrangedSite();
    const [admin, editor] = [await site.app.signedIn("admin"), await site.app.signedIn("editor")];
    const scripts = async (session: string) =>
      (await openList(site, session)).attributes("main script", "src");
    expect(await scripts(editor)).toEqual([]);
    const [src = ""] = await scripts(admin);
    expect((await site.app.call(src)).headers.get("content-type")).toBe(
      "text/javascript;charset=utf-8",
    );
  });
});

test("the name of a component or group is escaped on every screen that shows it", async () => {
  await using site = await createArrangedSite();
  const { app, ids } = site;
  const session = await app.signedIn("admin");
  const name = '"><img src=x onerror=alert(1)>';
  for (const [path, fields] of [
    [`${COMPONENTS}/${ids["API"]}`, { description: "", group_id: ids["Core"] ?? "" }],
    [`${COMPONENTS}/groups/${ids["Core"]}`, { description: "", collapse: "expanded" }],
  ] as const) {
    const form = { name, version: "1", ...fields };
    expect((await app.call(path, { session, form })).status).toBe(303);
  }
  const screens = [COMPONENTS, `${COMPONENTS}/new`];
  for (const path of [`${COMPONENTS}/${ids["API"]}`, `${COMPONENTS}/groups/${ids["Core"]}`]) {
    screens.push(path, `${path}/delete`);
  }
  screens.push(`${COMPONENTS}/${ids["API"]}/status`);
  for (const path of screens) {
    const { text } = await app.call(path, { session });
    const page = readHtml(text);
    expect(page.attributes("img", "src")).toEqual([]);
    const said = [...page.texts("h1, h2, option, .order-name")].join("\n");
    expect(said).toContain(name);
  }
});

describe("the page of the list of components", () => {
  test("the list of components offers no choice of page if there is only one", async () => {
    await using site = await createArrangedSite();
    const page = await openList(site, await site.app.signedIn("viewer"));
    expect(page.attributes("select", "name")).toEqual([]);
  });

  test("the list of components is that of the default page, or of the page with the given current or old slug", async () => {
    await using site = await createArrangedSite();
    const { app } = site;
    await app.page({ slug: "other", name: "Other" }, ["VPN"]);
    const session = await app.signedIn("viewer");
    const first = await openList(site, session);
    expect(first.attributes("select", "name")).toEqual(["page"]);
    expect(first.attributes("option[selected]", "value")).toEqual(["acme"]);
    const second = await openList(site, session, `${COMPONENTS}?page=other`);
    expect(second.texts(".order-name")).toEqual(["VPN"]);
    expect(second.attributes("option[selected]", "value")).toEqual(["other"]);
    await app.ctx.db.write((tx) =>
      updatePage(app.ctx, tx, site.page.id, { slug: "acme-new" }, CLI_ACTOR),
    );
    const third = await openList(site, session, `${COMPONENTS}?page=acme`);
    expect(third.attributes("option[selected]", "value")).toEqual(["acme-new"]);
  });

  test("the list of components of an unknown page is not_found", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("viewer");
    const answer = await site.app.call(`${COMPONENTS}?page=none`, { session, headers: HTML });
    expect(answer.status).toBe(404);
  });
});

describe("empty lists of components", () => {
  test.each([
    { role: "admin", links: ["/admin/pages/new"] },
    { role: "editor", links: [] },
  ] as const)(
    "without a status page, the list of components tells $role to create one if they may",
    async ({ role, links }) => {
      await using app = await createTestApp();
      const answer = await app.call(COMPONENTS, { session: await app.signedIn(role) });
      expect(answer.status).toBe(200);
      const page = readHtml(answer.text);
      expect(page.texts(".empty h2")).toEqual(["No status page yet"]);
      expect(page.attributes(".empty a", "href")).toEqual([...links]);
    },
  );

  test.each([
    { role: "admin", links: ["Add group", "Add several", "Add component"] },
    { role: "viewer", links: [] },
  ] as const)("a page without components offers $role the first step", async ({ role, links }) => {
    await using site = await createArrangedSite();
    const { app } = site;
    const admin = await app.signedIn("admin");
    for (const name of ["Docs", "API", "Web", "CDN"]) {
      const path = `${COMPONENTS}/${site.ids[name]}/delete`;
      expect((await app.call(path, { session: admin, form: {} })).status).toBe(303);
    }
    for (const name of ["Core", "Edge"]) {
      const path = `${COMPONENTS}/groups/${site.ids[name]}/delete`;
      expect((await app.call(path, { session: admin, form: {} })).status).toBe(303);
    }
    const page = await openList(site, await app.signedIn(role));
    expect(page.texts(".empty h2")).toEqual(["No components yet"]);
    expect(page.texts(".empty a")).toEqual([...links]);
  });
});
