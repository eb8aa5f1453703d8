import { describe, expect, test } from "bun:test";
import { deletePage } from "../../../src/features/pages/deletion";
import { getPage } from "../../../src/features/pages/pages";
import type { PageInput } from "../../../src/features/pages/wire";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";
import { createPage, updatePage } from "../../support/examined";

const make = (app: TestApp, input: PageInput) =>
  app.ctx.db.write((tx) => createPage(app.ctx, tx, input, CLI_ACTOR));

const change = (app: TestApp, id: string, input: Partial<PageInput>) =>
  app.ctx.db.write((tx) => updatePage(app.ctx, tx, id, input, CLI_ACTOR));

/** Two pages, of which the first has a custom domain. */
async function twoPages(app: TestApp) {
  const one = await make(app, { slug: "one", name: "One", custom_domains: ["one.example"] });
  const two = await make(app, { slug: "two", name: "Two" });
  return { one, two };
}

describe("the custom domains of a page", () => {
  test("custom domains are stored in their order and normalised until they are changed", async () => {
    await using app = await createTestApp();
    const page = await make(app, {
      slug: "acme",
      name: "Acme",
      custom_domains: ["Status.Acme.com", "münchen.example."],
    });
    const kept = ["status.acme.com", "xn--mnchen-3ya.example"];
    expect(page.customDomains).toEqual(kept);
    expect((await change(app, page.id, { name: "Acme GmbH" })).customDomains).toEqual(kept);
    const swapped = await change(app, page.id, { custom_domains: kept.toReversed() });
    expect(swapped.customDomains).toEqual(kept.toReversed());
    expect(swapped.version).toBe(3);
    expect((await change(app, page.id, { custom_domains: [] })).customDomains).toEqual([]);
  });

  test("custom domains are in the API", async () => {
    await using app = await createTestApp();
    const { one, two } = await twoPages(app);
    const key = await app.keyWith("read:status");
    const read = async (slug: string) =>
      (await app.call(`/api/v1/status/${slug}`, { key })).body.page.custom_domains;
    expect(await read(one.slug)).toEqual(["one.example"]);
    expect(await read(two.slug)).toEqual([]);
  });

  test.each([
    [["https://a.example"], "#/custom_domains/0"],
    [["a.example", "A.example"], "#/custom_domains/1"],
    [["a.example", ""], "#/custom_domains/1"],
    [Array.from({ length: 11 }, (_, n) => `a${n}.example`), "#/custom_domains"],
    ["a.example", "#/custom_domains"],
    [[7], "#/custom_domains/0"],
  ])("are refused whole where one is wrong: %j", async (domains, pointer) => {
    await using app = await createTestApp();
    const { two } = await twoPages(app);
    const before = { row: getPage(app.ctx.db, two.id), audit: app.audit().length };
    const custom_domains = domains as string[];
    const rejection = await rejectionOf(change(app, two.id, { name: "Other", custom_domains }));
    expect(rejection.code).toBe("validation_failed");
    expect(rejection.fields.map((field) => field.pointer)).toEqual([pointer]);
    expect({ row: getPage(app.ctx.db, two.id), audit: app.audit().length }).toEqual(before);
  });

  test("the host of the public address cannot be a custom domain, on any port", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_BASE_URL: "http://home.lan:8080" } });
    const { two } = await twoPages(app);
    const rejection = await rejectionOf(
      change(app, two.id, { custom_domains: ["a.example", "Home.lan"] }),
    );
    expect(rejection.code).toBe("validation_failed");
    expect(rejection.fields.map(({ pointer }) => pointer)).toEqual(["#/custom_domains/1"]);
    expect(getPage(app.ctx.db, two.id).customDomains).toEqual([]);
    expect((await change(app, two.id, { custom_domains: ["a.home.lan"] })).customDomains).toEqual([
      "a.home.lan",
    ]);
  });

  test("a custom domain belongs to one page until that is deleted or releases it", async () => {
    await using app = await createTestApp();
    const { one, two } = await twoPages(app);
    const taking = { custom_domains: ["two.example", "ONE.example"] };
    const rejection = await rejectionOf(change(app, two.id, taking));
    expect(rejection.code).toBe("conflict");
    expect(rejection.message).toBe("The custom domain one.example is used by the page one.");
    const three = { slug: "three", name: "Three", custom_domains: ["one.example"] };
    expect((await rejectionOf(make(app, three))).code).toBe("conflict");
    expect(getPage(app.ctx.db, two.id).customDomains).toEqual([]);

    await change(app, one.id, { custom_domains: ["one.example"] });
    await change(app, one.id, { custom_domains: [] });
    expect((await change(app, two.id, taking)).customDomains).toEqual([
      "two.example",
      "one.example",
    ]);
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, two.id, CLI_ACTOR));
    expect((await make(app, three)).customDomains).toEqual(["one.example"]);
  });
});
