import { describe, expect, test } from "bun:test";
import { findPageBySlug } from "../../../src/features/pages";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";

const fileWith = (...domains: string[]) =>
  ["pages:", "  - slug: acme", "    name: Acme", "    custom_domains:"]
    .concat(domains.map((domain) => `      - ${domain}`))
    .join("\n");

const domainsOf = ({ ctx }: TestApp) => findPageBySlug(ctx.db, { slug: "acme" })?.customDomains;

describe("a page's custom domains in a file", () => {
  test("are kept as requests name them, and the second run changes nothing", async () => {
    await using app = await createTestApp();
    const file = fileWith("Status.Acme.Example", "münchen.example");
    await apply(app, file);
    expect(domainsOf(app)).toEqual(["status.acme.example", "xn--mnchen-3ya.example"]);
    expect((await apply(app, file)).changes).toEqual([]);
  });

  test("are told when they change, also by their order, and go where the file leaves them out", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("a.example", "b.example"));
    expect(linesOf(await apply(app, fileWith("b.example", "a.example")))).toEqual([
      '~ page acme: custom_domains ["a.example","b.example"] → ["b.example","a.example"]',
    ]);
    await apply(app, "pages: [{ slug: acme, name: Acme }]");
    expect(domainsOf(app)).toEqual([]);
  });

  test("are refused by the line of the wrong one, with nothing changed", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("a.example"));
    const audited = app.audit().length;
    const refused = apply(app, fileWith("b.example", "status.test").replace("Acme", "Other"));
    await expect(refused).rejects.toThrow(
      "line 6: custom_domains[1] is the host of the public address",
    );
    expect(domainsOf(app)).toEqual(["a.example"]);
    expect(app.audit()).toHaveLength(audited);
  });
});
