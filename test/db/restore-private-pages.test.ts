import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { openDataDirectory } from "../../src/db/data-directory";
import { copyDatabase } from "../../src/db/copies";
import { migrate, MIGRATIONS } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";
import { restoreDatabase } from "../../src/db/restore";
import type { MadePageLink } from "../../src/features/pages/access";
import { deletePage } from "../../src/features/pages/deletion";
import { findPageBySlug, type PageRow } from "../../src/features/pages/store";
import { findGrantKey } from "../../src/features/pages/visits";
import { expectProblem, type TestApp } from "../support/app";
import {
  createPageAccess,
  enterByLink,
  enterByPassword,
  PAGE_PASSWORD,
} from "../support/page-access";
import { backedUpSite } from "../support/restored-app";
import { temporaryFolder } from "../support/temporary-folder";

const PRIVATE = { slug: "inside", name: "Inside", visibility: "private" } as const;
const NEWER = "another password 2";
/** Number of migrations before the rules of private pages. */
const WITHOUT_RULES = MIGRATIONS.findIndex(({ name }) => name === "private_pages");

const pageOf = ({ ctx }: TestApp, slug = "inside"): PageRow => {
  const page = findPageBySlug(ctx.db, { slug });
  if (!page) throw new Error(`there is no page ${slug}`);
  return page;
};

const revoke = (app: TestApp, { link }: MadePageLink) =>
  createPageAccess(app, link.pageId).revoke(link.id);

/** Status of the page for a visitor. */
const statusOf = async (app: TestApp, cookie?: string, path = "/status/inside") =>
  (await app.call(path, cookie === undefined ? {} : { headers: { cookie } })).status;

/** Status of the form after a password was sent. */
const statusOfPassword = async (app: TestApp, password: string) =>
  (await app.call("/status/inside/access", { form: { password } })).status;

describe("a private page after a restore", () => {
  test("a grant from before the restore opens nothing, and the same password and link open the page again", async () => {
    using site = await backedUpSite(async (app) => {
      const { page } = await app.page(PRIVATE);
      const access = createPageAccess(app, page.id);
      await access.password(PAGE_PASSWORD);
      const link = await access.link("Partners");
      const grants = [
        await enterByPassword(app.call, "inside"),
        await enterByLink(app.call, "inside", link),
      ];
      for (const grant of grants) expect(await statusOf(app, grant)).toBe(200);
      return { link, grants };
    });
    const { link, grants } = site.made;
    expect(site.restore()).toMatchObject({ carried: [], revived: [], couldReadReplaced: true });
    await site.withApp(async (app) => {
      for (const grant of grants) expect(await statusOf(app, grant)).toBe(401);
      const again = [
        await enterByPassword(app.call, "inside"),
        await enterByLink(app.call, "inside", link),
      ];
      for (const grant of again) expect(await statusOf(app, grant)).toBe(200);
    });
  });

  test("the password changed since the backup is kept, and the earlier one opens nothing", async () => {
    using site = await backedUpSite(
      async (app) => {
        const { page } = await app.page(PRIVATE);
        await createPageAccess(app, page.id).password(PAGE_PASSWORD);
        return page;
      },
      (app, page) => createPageAccess(app, page.id).password(NEWER),
    );
    expect(site.restore().carried).toEqual([{ what: "changed password of a page", count: 1 }]);
    await site.withApp(async (app) => {
      expect(await statusOfPassword(app, PAGE_PASSWORD)).toBe(422);
      expect(await statusOfPassword(app, NEWER)).toBe(303);
    });
  });

  test("a password removed since the backup stays removed", async () => {
    using site = await backedUpSite(
      async (app) => {
        const { page } = await app.page(PRIVATE);
        await createPageAccess(app, page.id).password(PAGE_PASSWORD);
        return page;
      },
      (app, page) => createPageAccess(app, page.id).password(null),
    );
    expect(site.restore().carried).toEqual([{ what: "changed password of a page", count: 1 }]);
    await site.withApp(async (app) => {
      expect(pageOf(app).passwordId).toBeNull();
      expectProblem(
        await app.call("/status/inside/access", { form: { password: PAGE_PASSWORD } }),
        "not_found",
      );
    });
  });

  test("the first password of an installation, set since the backup, is kept and opens the page", async () => {
    using site = await backedUpSite(
      async (app) => (await app.page(PRIVATE)).page,
      (app, page) => createPageAccess(app, page.id).password(PAGE_PASSWORD),
    );
    site.restore();
    await site.withApp(async (app) => {
      expect(findGrantKey(app.ctx.db)).toHaveLength(32);
      expect(await statusOf(app, await enterByPassword(app.call, "inside"))).toBe(200);
    });
  });

  test("a link revoked since the backup stays revoked, and others open the page", async () => {
    using site = await backedUpSite(
      async (app) => {
        const { page } = await app.page(PRIVATE);
        const access = createPageAccess(app, page.id);
        return [await access.link("Revoked"), await access.link("Live")] as const;
      },
      (app, [revoked]) => revoke(app, revoked),
    );
    const [revoked, live] = site.made;
    expect(site.restore()).toMatchObject({
      carried: [{ what: "revoked link", count: 1 }],
      revived: [],
    });
    await site.withApp(async (app) => {
      expectProblem(await app.call(`/status/inside/with/${revoked.token}`), "not_found");
      expect(await statusOf(app, await enterByLink(app.call, "inside", live))).toBe(200);
      expect(pageOf(app).hasLinks).toBe(true);
    });
  });

  test("a page whose last link was revoked since the backup has no links, also on its domain", async () => {
    const custom_domains = ["inside.example"];
    using site = await backedUpSite(async (app) => {
      const { page } = await app.page({ ...PRIVATE, custom_domains });
      return createPageAccess(app, page.id).link("Partners");
    }, revoke);
    site.restore();
    await site.withApp(async (app) => {
      expect(pageOf(app).hasLinks).toBe(false);
      expect((await app.call("/", { host: "inside.example" })).status).toBe(404);
    });
  });

  test("networks changed since the backup are kept, and a page made private since stays private", async () => {
    using site = await backedUpSite(
      async (app) => {
        const { page: inside } = await app.page(PRIVATE);
        const { page: open } = await app.page({ slug: "open", name: "Open" });
        await createPageAccess(app, inside.id).networks("203.0.113.0/24");
        return { inside, open };
      },
      async (app, { inside, open }) => {
        await createPageAccess(app, inside.id).networks("198.51.100.0/24");
        await createPageAccess(app, open.id).update({ visibility: "private" });
      },
    );
    expect(site.restore().carried).toEqual([
      { what: "change of a page to private", count: 1 },
      { what: "changed list of networks", count: 1 },
    ]);
    await site.withApp(async (app) => {
      expect(await statusOf(app)).toBe(404);
      expect((await app.call("/status/inside", { from: "198.51.100.7" })).status).toBe(200);
      expect((await app.call("/status/open")).status).toBe(404);
    });
  });

  test("monthly reports that were restricted since the backup stay so, and none becomes public", async () => {
    using site = await backedUpSite(
      async (app) => ({
        shown: (await app.page({ slug: "shown", name: "Shown", report: "public" })).page,
        hidden: (await app.page({ slug: "hidden", name: "Hidden", report: "team" })).page,
      }),
      async (app, { shown, hidden }) => {
        await createPageAccess(app, shown.id).update({ report: "team" });
        await createPageAccess(app, hidden.id).update({ report: "public" });
      },
    );
    expect(site.restore().carried).toEqual([{ what: "restriction of monthly reports", count: 1 }]);
    await site.withApp((app) => {
      const reports = ["shown", "hidden"].map((slug) => pageOf(app, slug).report);
      return Promise.resolve(expect(reports).toEqual(["team", "team"]));
    });
  });

  test("a page deleted since the backup comes back without its password and its links", async () => {
    using site = await backedUpSite(
      async (app) => {
        const { page } = await app.page(PRIVATE);
        const access = createPageAccess(app, page.id);
        await access.password(PAGE_PASSWORD);
        return { page, link: await access.link("Partners") };
      },
      ({ ctx }, { page }) => ctx.db.write((tx) => deletePage(ctx, tx, page.id, CLI_ACTOR)),
    );
    site.restore();
    await site.withApp(async (app) => {
      expect(pageOf(app)).toMatchObject({ passwordId: null, hasLinks: false });
      expectProblem(await app.call(`/status/inside/with/${site.made.link.token}`), "not_found");
      expect(await statusOf(app)).toBe(404);
    });
  });

  test("restoring the replaced database brings its rules back", async () => {
    using site = await backedUpSite(
      async (app) => {
        const { page } = await app.page(PRIVATE);
        await createPageAccess(app, page.id).password(PAGE_PASSWORD);
        return page;
      },
      async (app, page) => {
        await createPageAccess(app, page.id).password(NEWER);
        return createPageAccess(app, page.id).link("Partners");
      },
    );
    const { kept } = site.restore();
    await site.withApp(async (app) => expect(pageOf(app).hasLinks).toBe(false));
    expect(site.restore(kept)).toMatchObject({ carried: [], couldReadReplaced: true });
    await site.withApp(async (app) => {
      expect(pageOf(app).hasLinks).toBe(true);
      expect(await statusOfPassword(app, NEWER)).toBe(303);
    });
  });

  test("without a replaced database, pages with passwords and live links are listed, and all grants end", async () => {
    using site = await backedUpSite(async (app) => {
      const { page } = await app.page(PRIVATE);
      const access = createPageAccess(app, page.id);
      await access.password(PAGE_PASSWORD);
      const link = await access.link("Partners");
      await access.link("Ended", "2026-03-10T12:30:00Z");
      return { page, link, grant: await enterByPassword(app.call, "inside") };
    });
    rmSync(site.directory.database);
    const { page, link, grant } = site.made;
    expect(site.restore()).toMatchObject({
      couldReadReplaced: false,
      revived: [
        { kind: "link", id: link.link.id, label: "Partners" },
        { kind: "page", id: page.id, label: "inside" },
      ],
    });
    await site.withApp(async (app) => expect(await statusOf(app, grant)).toBe(401));
  });

  test("a page made private since a backup of an older schema stays private", () => {
    using folder = temporaryFolder();
    const { database } = openDataDirectory(folder.path);
    const backup = join(folder.path, "backup.db");
    {
      using sqlite = openSqlite(database, 0);
      migrate(sqlite, undefined, MIGRATIONS.slice(0, WITHOUT_RULES));
      sqlite.run(
        `INSERT INTO pages (id, ref, slug, name, time_zone, locale, visibility, theme, history_days, is_default,
           is_sample, content_version, content_changed_at, version, created_at, updated_at)
         VALUES ('page_1', 'acme', 'acme', 'Acme', 'UTC', 'en', 'public', 'system', 90, 1, 0, 1, 1, 1, 1, 1)`,
      );
      copyDatabase(sqlite, backup);
      migrate(sqlite, undefined);
      sqlite.run("UPDATE pages SET visibility = 'private', password_id = 'pwd_1', version = 2");
      sqlite.run("INSERT INTO page_passwords VALUES ('page_1', 'a hash')");
    }
    expect(restoreDatabase(openDataDirectory(folder.path), backup)).toMatchObject({
      carried: [{ what: "change of a page to private", count: 1 }],
      couldReadReplaced: true,
      revived: [],
    });
    using sqlite = openSqlite(database, 0);
    migrate(sqlite, undefined);
    const stored = sqlite.query("SELECT visibility, password_id FROM pages").get();
    expect(stored).toEqual({ visibility: "private", password_id: null });
  });

  test("an installation without rules has no key for grants after a restore", async () => {
    using site = await backedUpSite(async (app) => (await app.page(PRIVATE)).page);
    site.restore();
    using sqlite = new Database(site.directory.database, { readonly: true });
    expect(sqlite.query("SELECT name FROM settings WHERE name = 'grant_key'").get()).toBeNull();
  });
});
