import { describe, expect, test } from "bun:test";
import { listComponentsOfPage, listGroups } from "../../../../src/features/components/store";
import { createTestApp } from "../../../support/app";
import { openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml } from "../../../support/html";

const LIST = "/admin/components";
const SEVERAL = `${LIST}/several`;

async function createSite() {
  const app = await createTestApp();
  const { page } = await app.page({}, ["API", "Website"]);
  const session = await app.signedIn("admin");
  const [group] = listGroups(app.ctx.db, { pageId: page.id });
  return {
    app,
    page,
    session,
    group: group?.id ?? "",
    names: () => listComponentsOfPage(app.ctx.db, { pageId: page.id }).map(({ name }) => name),
    async add(name: string, fields: Record<string, string> = {}) {
      const form = await openForm(app, SEVERAL, session);
      return app.call(SEVERAL, { session, form: { form, page: page.id, name, ...fields } });
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("adding several components at once", () => {
  test("each line becomes a component of the group, in order, without empty lines", async () => {
    await using site = await createSite();
    const answer = await site.add(" Mail \r\n\r\nDNS\r\nCDN\r\n", { group_id: site.group });
    expect(answer.status).toBe(303);
    expect(site.names()).toEqual(["API", "Website", "Mail", "DNS", "CDN"]);
    const rows = listComponentsOfPage(site.app.ctx.db, { pageId: site.page.id });
    expect(rows.slice(2).map(({ groupId }) => groupId)).toEqual(Array(3).fill(site.group));
    expect(new Set(rows.map(({ position }) => position)).size).toBe(5);
    const { text } = await site.app.call(LIST, { session: site.session });
    expect(readHtml(text).texts(".flash")).toEqual([
      "3 components were added. Next: Create monitor",
    ]);
  });

  test.each([
    { what: "no line", name: " \r\n ", error: "Names is empty." },
    {
      what: "101 lines",
      name: Array(101).fill("x").join("\r\n"),
      error: "Names has 101 lines; 100 is the most.",
    },
    {
      what: "a line that is too long",
      name: `Mail\r\n${"x".repeat(256)}`,
      error: "Names is 256 characters long; 255 is the most.",
    },
  ])("$what is rejected, and nothing is added", async ({ name, error }) => {
    await using site = await createSite();
    const answer = await site.add(name);
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ name: error });
    expect(site.names()).toEqual(["API", "Website"]);
  });

  test("an editor may not add several components", async () => {
    await using site = await createSite();
    const session = await site.app.signedIn("editor");
    const form = { form: "1", page: site.page.id, name: "Mail" };
    expect((await site.app.call(SEVERAL, { session, form })).status).toBe(403);
    expect(site.names()).toEqual(["API", "Website"]);
  });
});

describe("the list of components", () => {
  test("a search lists the components whose name or group matches, without the means to order them", async () => {
    await using site = await createSite();
    const open = async (query: string) =>
      readHtml((await site.app.call(`${LIST}${query}`, { session: site.session })).text);
    expect((await open("")).texts(".list-count")).toEqual([]);
    await site.add(Array.from({ length: 8 }, (_, index) => `Shard ${index}`).join("\n"));
    const whole = await open("");
    expect(whole.texts(".list-count")).toEqual(["10 components"]);
    expect(whole.attributes("[data-order]", "data-order").length).toBeGreaterThan(0);
    const found = await open("?q=WEB");
    expect(found.texts(".list-count")).toEqual(["1 component"]);
    expect(found.texts("main").join(" ")).not.toContain("API");
    expect(found.attributes("[data-order]", "data-order")).toEqual([]);
    expect(found.attributes("form[action$='/move']", "action")).toEqual([]);
    expect((await open("?q=mainframe")).texts("main h2")).toEqual(["No components match"]);
  });

  test("each group links to the form for a new component, which has that group selected", async () => {
    await using site = await createSite();
    const { app, session, group } = site;
    const { text } = await app.call(LIST, { session });
    const path = `${LIST}/new?page=acme&group=${group}`;
    expect(readHtml(text).attributes("main a", "href")).toContain(path);
    const form = await app.call(path, { session });
    expect(readHtml(form.text).attributes("[name=group_id] option[selected]", "value")).toEqual([
      group,
    ]);
  });
});
