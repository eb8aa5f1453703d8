import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../../support/app";
import { addTemplate, changeTemplate } from "../../support/incident-templates";

const LIST = "/api/v1/incident-templates";

async function createSite() {
  const app = await createTestApp();
  const { components } = await app.page({ slug: "acme" }, ["API"]);
  await app.page({ slug: "other" }, []);
  const key = await app.keyWith("write:incidents");
  const list = (query = "", options = {}) => app.call(`${LIST}${query}`, { key, ...options });
  const refs = async (query = "") =>
    (await list(query)).body.data.map(({ ref }: { ref: string }) => ref);
  return {
    app,
    api: components["API"] ?? "",
    key,
    list,
    refs,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("the list of incident templates", () => {
  test("the list shows every field of a template", async () => {
    await using site = await createSite();
    const template = await addTemplate(site.app, {
      page: "acme",
      impact_override: "major",
      components: { [site.api]: "partial_outage" },
    });
    const { status, body } = await site.list();
    expect(status).toBe(200);
    expect(body).toEqual({ data: [template], next_cursor: null });
    expect(body.data[0]).toMatchObject({
      ref: "database-down",
      page: "acme",
      name: "Database down",
      title: "Orders cannot be placed",
      body: "We are looking into it.",
      status: "investigating",
      impact_override: "major",
      components: { [site.api]: "partial_outage" },
      version: 1,
    });
  });

  test("a page selects its own templates and those for all pages, newest first", async () => {
    await using site = await createSite();
    await addTemplate(site.app, { name: "all" });
    await addTemplate(site.app, { name: "acme", page: "acme" });
    await addTemplate(site.app, { name: "other", page: "other" });
    expect(await site.refs()).toEqual(["other", "acme", "all"]);
    expect(await site.refs("?page=acme")).toEqual(["acme", "all"]);
    expectProblem(await site.list("?page=nowhere"), "invalid_request");
    expectProblem(await site.list("?colour=red"), "invalid_request");
  });

  test("a cursor continues the list, and the link names the page", async () => {
    await using site = await createSite();
    for (const name of ["a", "b", "c"]) await addTemplate(site.app, { name, page: "acme" });
    const first = await site.list("?page=acme&limit=2");
    expect(first.body.data.map(({ ref }: { ref: string }) => ref)).toEqual(["c", "b"]);
    expect(first.headers.get("link")).toContain("page=acme");
    await addTemplate(site.app, { name: "d", page: "acme" });
    const cursor = first.body.next_cursor;
    expect(await site.refs(`?page=acme&limit=2&cursor=${cursor}`)).toEqual(["a"]);
    expectProblem(await site.list("?cursor=nonsense"), "invalid_request");
    expectProblem(await site.list("?limit=101"), "invalid_request");
  });

  test("the entity tag changes with a template, and an unchanged list is not sent again", async () => {
    await using site = await createSite();
    const { id } = await addTemplate(site.app);
    const etag = (await site.list()).headers.get("etag") ?? "";
    const again = () => site.list("", { headers: { "if-none-match": etag } });
    expect((await again()).status).toBe(304);
    await changeTemplate(site.app, id, { title: "Other" });
    expect((await again()).status).toBe(200);
  });

  test("the fields of a template open an incident, as its list says", async () => {
    await using site = await createSite();
    await addTemplate(site.app, {
      page: "acme",
      status: "identified",
      impact_override: "critical",
      components: { [site.api]: "partial_outage" },
    });
    const [{ page, title, body, status, impact_override, components }] = (await site.list()).body
      .data;
    const json = { page, name: title, body, status, impact_override, components };
    const answer = await site.app.call("/api/v1/incidents", {
      method: "POST",
      key: site.key,
      json,
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      name: "Orders cannot be placed",
      status: "identified",
      impact: "critical",
    });
  });

  test("a key without write:incidents cannot read templates", async () => {
    await using site = await createSite();
    const key = await site.app.keyWith("read:status", "manage:monitors", "write:maintenance");
    expectProblem(await site.list("", { key }), "insufficient_scope");
  });

  test("long templates are sent in parts of at most 100", async () => {
    await using site = await createSite();
    for (let made = 0; made < 100; made++) {
      await addTemplate(site.app, { body: "x".repeat(10_000) });
    }
    await addTemplate(site.app, { page: "acme" });
    const { body } = await site.list("?limit=100");
    expect(body.data).toHaveLength(100);
    expect(body.next_cursor).not.toBeNull();
  });
});
