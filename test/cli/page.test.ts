import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createPasswords } from "../../src/features/auth/passwords";
import { findPagePassword } from "../../src/features/pages/access-store";
import { findPageBySlug } from "../../src/features/pages/store";
import { type Installation, openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { commandLine, jsonOf } from "../support/command-line";
import { createPageAccess, type PageAccess } from "../support/page-access";
import { temporaryFolder } from "../support/temporary-folder";

const PASSWORD = "correct horse";
const FILE = "pages: [{ slug: acme, name: Acme, visibility: private }]\n";

/** A data directory with the private page `acme`, and the commands on it. */
async function createSite() {
  const folder = temporaryFolder();
  const run = commandLine(join(folder.path, "data"));
  const applied = await run(["apply", "-"], {}, [FILE]);
  if (applied.exitCode !== 0) throw new Error(applied.err.join("\n"));

  /** Runs `work` with the context of the data directory, between two commands. */
  async function withContext<T>(
    work: (ctx: Installation["ctx"], rules: PageAccess) => T | Promise<T>,
  ): Promise<T> {
    const env = { ALLCLEAR_DATA_DIR: join(folder.path, "data"), ALLCLEAR_LOG_LEVEL: "silent" };
    const installation = openForCommand(testConfig(env), "test", { canCreate: false });
    try {
      const { ctx } = installation;
      const page = findPageBySlug(ctx.db, { slug: "acme" });
      return await work(ctx, createPageAccess(installation, page?.id ?? ""));
    } finally {
      installation.close();
    }
  }

  const hash = () =>
    withContext((ctx) => {
      const page = findPageBySlug(ctx.db, { slug: "acme" });
      return page && findPagePassword(ctx.db, { pageId: page.id })?.hash;
    });
  return { run, withContext, hash, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

describe("allclear page access", () => {
  test("page access prints the rules of a page without a secret", async () => {
    using site = await createSite();
    const { run } = site;
    expect(await run(["page", "access", "acme"])).toEqual({
      exitCode: 0,
      out: ["Visibility: private", "Password: none", "Networks: none", "Links: none"],
      err: [],
    });
    const { link, token } = await site.withContext(async (_, rules) => {
      await rules.password(PASSWORD);
      await rules.networks("198.51.100.0/24", "10.0.0.1");
      return rules.link("Partner", "2999-12-31");
    });
    const { out } = await run(["page", "access", "acme"]);
    expect(out.slice(0, 4)).toEqual([
      "Visibility: private",
      "Password: set",
      "Networks: 198.51.100.0/24, 10.0.0.1",
      "Links:",
    ]);
    expect(out[4]).toMatch(/^ID +NAME +STATE +LAST USED$/);
    expect(out[5]).toStartWith(`${link.id}  Partner  until 3000-01-01T00:00:00.000Z`);
    expect(out[5]).toEndWith("never used");
    expect(out.join("\n")).not.toContain(token);
  });

  test("page access --json prints the rules as JSON", async () => {
    using site = await createSite();
    await site.withContext((_, rules) => rules.link("Partner"));
    const access = jsonOf<{ links: object[] }>(
      await site.run(["page", "access", "acme", "--json"]),
    );
    expect(access).toMatchObject({
      page: "acme",
      visibility: "private",
      has_password: false,
      networks: [],
      links: [{ name: "Partner", expires_at: null, last_used_at: null }],
    });
    expect(Object.keys(access.links[0] ?? {})).toEqual([
      "id",
      "name",
      "created_at",
      "expires_at",
      "last_used_at",
    ]);
  });

  test("page access --set-password - sets the password to the first line of standard input", async () => {
    using site = await createSite();
    const args = ["page", "access", "acme", "--set-password", "-"];
    expect(await site.run(args, {}, [PASSWORD])).toEqual({
      exitCode: 0,
      out: [],
      err: ["Set the password of acme."],
    });
    expect(await createPasswords().verify(PASSWORD, await site.hash())).toBe(true);
    const shown = await site.run([...args, "--json"], {}, ["battery staple"]);
    expect(jsonOf<object>(shown)).toMatchObject({ has_password: true });
    expect(await createPasswords().verify("battery staple", await site.hash())).toBe(true);
  });

  test("page access says that a password has no effect while the page is public", async () => {
    using site = await createSite();
    await site.withContext((_, rules) => rules.update({ visibility: "public" }));
    const outcome = await site.run(["page", "access", "acme", "--set-password=-"], {}, [PASSWORD]);
    expect(outcome.err).toEqual([
      "Set the password of acme. It has no effect while the page is public.",
    ]);
  });

  test.each(["", "1234567", "x".repeat(201)])(
    "page access rejects an invalid password with exit code 2 and sets nothing (%#)",
    async (password) => {
      using site = await createSite();
      const args = ["page", "access", "acme", "--set-password", "-"];
      const { exitCode, out, err } = await site.run(args, {}, [password]);
      expect([exitCode, out, err[0]]).toEqual([
        2,
        [],
        "The password must have 8 to 200 characters.",
      ]);
      expect(await site.hash()).toBeUndefined();
    },
  );

  test("page access does not take a password as an argument, and does not repeat it", async () => {
    using site = await createSite();
    const { exitCode, err } = await site.run([
      "page",
      "access",
      "acme",
      "--set-password",
      PASSWORD,
    ]);
    expect(exitCode).toBe(2);
    expect(err[0]).toStartWith(
      "--set-password must be -, since other processes can read arguments",
    );
    expect(err.join("\n")).not.toContain(PASSWORD);
    expect(await site.hash()).toBeUndefined();
  });

  test("page access reports a page that does not exist", async () => {
    using site = await createSite();
    expect(await site.run(["page", "access", "other"])).toEqual({
      exitCode: 1,
      out: [],
      err: ["There is no page other."],
    });
  });
});
