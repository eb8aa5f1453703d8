import { describe, expect, test } from "bun:test";
import { findPageBySlug } from "../../../src/features/pages/store";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";

const fileWith = (...domains: string[]) =>
  ["pages:", "  - slug: acme", "    name: Acme", "    custom_domains:"]
    .concat(domains.map((domain) => `      - ${domain}`))
    .join("\n");

const domainsOf = ({ ctx }: TestApp, slug = "acme") =>
  findPageBySlug(ctx.db, { slug })?.customDomains;

describe("a page's custom domains in a file", () => {
  test("custom domains of a file are stored normalised, and a second run changes nothing", async () => {
    await using app = await createTestApp();
    const file = fileWith("Status.Acme.Example", "münchen.example");
    await apply(app, file);
    expect(domainsOf(app)).toEqual(["status.acme.example", "xn--mnchen-3ya.example"]);
    expect((await apply(app, file)).changes).toEqual([]);
  });

  test("changes of custom domains are reported, including their order and removal", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("a.example", "b.example"));
    expect(linesOf(await apply(app, fileWith("b.example", "a.example")))).toEqual([
      '~ page acme: custom_domains ["a.example","b.example"] → ["b.example","a.example"]',
    ]);
    await apply(app, "pages: [{ slug: acme, name: Acme }]");
    expect(domainsOf(app)).toEqual([]);
  });

  test("an invalid custom domain is rejected with its line, and nothing is changed", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("a.example"));
    const audited = app.audit().length;
    const rejected = apply(app, fileWith("b.example", "status.test").replace("Acme", "Other"));
    await expect(rejected).rejects.toThrow(
      "line 6: custom_domains[1] is the host of the public address",
    );
    expect(domainsOf(app)).toEqual(["a.example"]);
    expect(app.audit()).toHaveLength(audited);
  });

  test("custom domains can move and be exchanged between pages of a file in any order", async () => {
    await using app = await createTestApp();
    const file = (acme: string, beta: string) => `pages:
  - { slug: acme, name: Acme, custom_domains: [${acme}] }
  - { slug: beta, name: Beta, custom_domains: [${beta}] }`;
    await apply(app, file("a.example", "b.example, c.example"));
    const moved = await apply(app, file("a.example, b.example", "c.example"));
    expect(linesOf(moved)).toEqual([
      '~ page beta: custom_domains ["b.example","c.example"] → ["c.example"]',
      '~ page acme: custom_domains ["a.example"] → ["a.example","b.example"]',
    ]);
    const swapped = file("c.example", "b.example, a.example");
    await apply(app, swapped);
    expect(domainsOf(app)).toEqual(["c.example"]);
    expect(domainsOf(app, "beta")).toEqual(["b.example", "a.example"]);
    expect((await apply(app, swapped)).changes).toEqual([]);
  });

  test("a custom domain of a page outside the file cannot be taken", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "other", name: "Other", custom_domains: ["a.example"] });
    const audited = app.audit().length;
    await expect(apply(app, fileWith("a.example"))).rejects.toThrow("is used by the page other");
    expect(domainsOf(app, "other")).toEqual(["a.example"]);
    expect(app.audit()).toHaveLength(audited);
  });
});
