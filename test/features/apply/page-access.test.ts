import { describe, expect, test } from "bun:test";
import { applyFile, exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { readApplyFile } from "../../../src/features/apply/read";
import { createPasswords } from "../../../src/features/auth/passwords";
import { preparePasswords } from "../../../src/features/pages/file";
import { findPagePassword } from "../../../src/features/pages/access-store";
import { findPageBySlug } from "../../../src/features/pages/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError, linesOf } from "../../support/apply";
import { createPageAccess } from "../../support/page-access";

const PASSWORD = "correct horse";
const fileWith = (access: string) =>
  `pages:\n  - slug: acme\n    name: Acme\n    visibility: private\n    access: ${access}\n`;
const WITHOUT = "pages: [{ slug: acme, name: Acme, visibility: private }]";

function pageOf({ ctx }: TestApp) {
  const page = findPageBySlug(ctx.db, { slug: "acme" });
  if (!page) throw new Error("there is no page");
  return page;
}

const hashOf = (app: TestApp) => findPagePassword(app.ctx.db, { pageId: pageOf(app).id })?.hash;
const isPassword = async (app: TestApp, password: string) =>
  createPasswords().verify(password, hashOf(app));
const exported = ({ ctx }: TestApp) => ctx.db.write((tx) => writeApplyFile(exportFile(tx), []));

describe("the password of a page in a file", () => {
  test("a password is set with the page, and a second apply changes nothing", async () => {
    await using app = await createTestApp();
    const file = fileWith("{ password: correct horse }");
    expect(linesOf(await apply(app, file))).toEqual(["+ page acme"]);
    expect(await isPassword(app, PASSWORD)).toBe(true);
    const before = [pageOf(app), hashOf(app), app.audit()];
    expect((await apply(app, file)).changes).toEqual([]);
    expect([pageOf(app), hashOf(app), app.audit()]).toEqual(before);
  });

  test("a password can be a variable, and is described by a word", async () => {
    await using app = await createTestApp({ logLevel: "trace" });
    const file = fileWith('{ password: "${PAGE_PASSWORD}" }');
    await apply(app, WITHOUT);
    const set = await apply(app, file, false, { PAGE_PASSWORD: PASSWORD });
    expect(linesOf(set)).toEqual(['~ page acme: access.password none → "a secret"']);
    const { passwordId } = pageOf(app);
    expect((await apply(app, file, false, { PAGE_PASSWORD: PASSWORD })).changes).toEqual([]);
    const changed = await apply(app, file, false, { PAGE_PASSWORD: "battery staple" });
    expect(linesOf(changed)).toEqual([
      '~ page acme: access.password "a secret" → "another secret"',
    ]);
    expect(pageOf(app).passwordId).not.toBe(passwordId);
    expect(await isPassword(app, "battery staple")).toBe(true);
    const traces = JSON.stringify([set, changed, app.audit(), app.logged]);
    expect(traces).not.toMatch(/correct horse|battery staple|argon2/);
    expect(await applyError(app, file)).toBe(
      "line 5: pages[0].access.password refers to the variable PAGE_PASSWORD, which is not set",
    );
    expect(await isPassword(app, "battery staple")).toBe(true);
  });

  test("a password that is left out stays, and null or an empty text removes it", async () => {
    await using app = await createTestApp();
    const set = fileWith("{ password: correct horse }");
    await apply(app, set);
    const hash = hashOf(app);
    for (const file of [WITHOUT, fileWith("{}"), fileWith("{ networks: [] }")]) {
      // oxlint-disable-next-line no-await-in-loop
      expect([(await apply(app, file)).changes, hashOf(app)]).toEqual([[], hash]);
    }
    for (const none of ["{ password: null }", '{ password: "" }']) {
      // oxlint-disable-next-line no-await-in-loop
      await apply(app, set);
      // oxlint-disable-next-line no-await-in-loop
      expect(linesOf(await apply(app, fileWith(none)))).toEqual([
        '~ page acme: access.password "a secret" → none',
      ]);
      expect([pageOf(app).passwordId, hashOf(app)]).toEqual([null, undefined]);
      // oxlint-disable-next-line no-await-in-loop
      expect((await apply(app, fileWith(none))).changes).toEqual([]);
    }
  });

  test("an invalid password is rejected with its line and without revealing it", async () => {
    await using app = await createTestApp();
    const file = fileWith('{ password: "${SECRET}" }');
    for (const wrong of ["short", "x".repeat(201), "two\nlines"]) {
      // oxlint-disable-next-line no-await-in-loop
      const error = await applyError(app, file, { SECRET: wrong });
      expect(error).toStartWith("line 5: pages[0].access.password ");
      expect(error).not.toContain(wrong);
    }
    expect(findPageBySlug(app.ctx.db, { slug: "acme" })).toBeUndefined();
  });

  test("a password that is changed between the comparison and the transaction is rejected", async () => {
    await using app = await createTestApp();
    const { ctx } = app;
    await apply(app, fileWith("{ password: correct horse }"));
    const file = readApplyFile(fileWith("{ password: correct horse }"));
    const passwords = await preparePasswords(ctx.db, file.content.pages, createPasswords());
    await createPageAccess(app, pageOf(app).id).password("battery staple");
    const applied = ctx.db.write((tx) =>
      applyFile(ctx, tx, file, { prune: false, actor: CLI_ACTOR, passwords }),
    );
    await expect(applied).rejects.toThrow("line 5: has a password that was changed meanwhile");
    expect(await isPassword(app, "battery staple")).toBe(true);
  });

  test("the passwords of several pages are compared each with that of its own page", async () => {
    await using app = await createTestApp();
    const file = (one: string, two: string) => `pages:
  - { slug: one, name: One, access: { password: ${one} } }
  - { slug: two, name: Two, access: { password: ${two} } }
`;
    await apply(app, file("password one", "password two"));
    expect((await apply(app, file("password one", "password two"))).changes).toEqual([]);
    expect(linesOf(await apply(app, file("password two", "password one")))).toEqual([
      '~ page one: access.password "a secret" → "another secret"',
      '~ page two: access.password "a secret" → "another secret"',
    ]);
  });

  test("a renamed page keeps its password", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("{ password: correct horse }"));
    const hash = hashOf(app);
    const renamed = `pages: [{ slug: newer, name: New, ref: acme, visibility: private, access: { password: correct horse } }]`;
    expect(linesOf(await apply(app, renamed))).toEqual([
      '~ page acme: slug "acme" → "newer", name "Acme" → "New"',
    ]);
    const page = findPageBySlug(app.ctx.db, { slug: "newer" });
    expect(page && findPagePassword(app.ctx.db, { pageId: page.id })?.hash).toBe(hash);
  });
});

describe("the networks of a page in a file", () => {
  test("networks are stored in canonical spelling, and leaving them out removes them", async () => {
    await using app = await createTestApp();
    const file = fileWith('{ networks: [198.51.100.7/24, "2001:DB8::/32"] }');
    await apply(app, file);
    expect(pageOf(app).networks).toEqual(["198.51.100.0/24", "2001:db8::/32"]);
    expect((await apply(app, file)).changes).toEqual([]);
    expect(linesOf(await apply(app, WITHOUT))).toEqual([
      '~ page acme: access.networks ["198.51.100.0/24","2001:db8::/32"] → []',
    ]);
    expect(pageOf(app).networks).toEqual([]);
  });

  test.each([
    ["{ networks: [10.0.0.0/8, 0.0.0.0/0] }", "pages[0].access.networks[1] is every address"],
    ["{ networks: [office] }", "pages[0].access.networks[0] must be a network"],
    ["{ links: [] }", "pages[0].access.links"],
    ["open", "pages[0].access"],
  ])("the rules %s are rejected with their line", async (access, error) => {
    await using app = await createTestApp();
    const message = await applyError(app, fileWith(access));
    expect(message).toStartWith(`line 5: ${error}`);
    expect(findPageBySlug(app.ctx.db, { slug: "acme" })).toBeUndefined();
  });
});

describe("the rules of a page in an export", () => {
  test("an export has the networks, but no password and no link, and applying it changes nothing", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("{ password: correct horse, networks: [10.0.0.0/8] }"));
    const { token, link } = await createPageAccess(app, pageOf(app).id).link("Partner");
    const text = await exported(app);
    expect(exportFile(app.ctx.db).pages[0]?.access).toEqual({ networks: ["10.0.0.0/8"] });
    for (const secret of ["password", "argon2", token, link.id, "Partner", hashOf(app) ?? ""]) {
      expect(text).not.toContain(secret);
    }
    expect((await apply(app, text)).changes).toEqual([]);
    expect([await isPassword(app, PASSWORD), pageOf(app).hasLinks]).toEqual([true, true]);
  });

  test("a page without networks is exported without rules", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("{ password: correct horse }"));
    expect(exportFile(app.ctx.db).pages[0]?.access).toBeUndefined();
  });
});
