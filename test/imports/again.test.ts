import { describe, expect, test } from "bun:test";
import { mutate } from "../../src/db/statements";
import { importRefs } from "../../src/db/tables/imports";
import { CLI_ACTOR } from "../../src/base/actor";
import { deletePage } from "../../src/features/pages/deletion";
import { listComponentsOfPage } from "../../src/features/components/store";
import { findTokenOwner } from "../../src/features/monitors/tokens";
import { listAllPages } from "../../src/features/pages/store";
import { sha256 } from "../../src/base/hash";
import { checkItems, checkOf, createImportSite, UUIDS, verdictsOf } from "../support/import-site";
import { updateMonitor, updatePage } from "../support/examined";

const [FIRST, SECOND, THIRD] = UUIDS;

/** Replaces the hashes of all settings by others, as those without a key are. */
const forgetHashes = mutate((orm, _$: Record<string, never>) =>
  orm.update(importRefs).set({ settingsHash: sha256("settings") }),
);

/** Site with one imported check, its monitor, and a key that edits it. */
async function importedSite(fields: Record<string, unknown> = {}) {
  const site = await createImportSite();
  await site.import([checkOf(FIRST, fields)]);
  const [monitor] = site.monitors();
  const key = await site.app.keyWith("manage:monitors");
  const path = `/api/v1/monitors/${monitor?.id}`;
  const monitorNow = () => site.monitors().find(({ id }) => id === monitor?.id);
  return Object.assign(site, { key, path, monitorNow });
}

describe("the second import of a source", () => {
  test("of an unchanged check reports it as unchanged and writes nothing", async () => {
    await using site = await importedSite();
    const audited = site.app.audit();
    const before = JSON.stringify(site.monitors());
    const report = await site.import([checkOf(FIRST)]);
    expect(verdictsOf(report)).toEqual(["unchanged"]);
    expect(report.id).toBeNull();
    expect(site.app.audit()).toEqual(audited);
    expect(JSON.stringify(site.monitors())).toBe(before);
  });

  test("brings a check up to date that changed in the source", async () => {
    await using site = await importedSite();
    const changed = { timeout: undefined, schedule: "0 3 * * *", tz: "UTC", tags: "", desc: "" };
    const report = await site.import([checkOf(FIRST, { ...changed, grace: 60 })]);
    expect(verdictsOf(report)).toEqual(["updated"]);
    expect(site.monitorNow()).toMatchObject({
      intervalSeconds: null,
      config: { grace_seconds: 60, schedule: "0 3 * * *", time_zone: "UTC" },
      tags: [],
      notes: null,
      onDown: "major_outage",
    });
    expect(verdictsOf(await site.import([checkOf(FIRST, { ...changed, grace: 60 })]))).toEqual([
      "unchanged",
    ]);
    const back = await site.import([checkOf(FIRST)]);
    expect(verdictsOf(back)).toEqual(["updated"]);
    expect(site.monitorNow()).toMatchObject({
      intervalSeconds: 3600,
      config: { grace_seconds: 600 },
    });
  });

  test("of checks that were noted with a plain hash updates them once, and keeps edited ones", async () => {
    await using site = await createImportSite();
    const checks = [checkOf(FIRST), checkOf(SECOND)];
    await site.import(checks);
    const { ctx } = site.app;
    const [, edited] = site.monitors();
    await ctx.db.write((tx) => {
      updateMonitor(ctx, tx, edited?.id ?? "", { notes: "Ours" }, CLI_ACTOR);
      forgetHashes(tx, {});
    });
    expect(verdictsOf(await site.import(checks))).toEqual(["updated", "kept"]);
    expect(site.monitors()).toMatchObject([{ version: 1 }, { notes: "Ours" }]);
    expect(verdictsOf(await site.import(checks))).toEqual(["unchanged", "kept"]);
  });

  test("keeps a monitor that was edited here, and says so", async () => {
    await using site = await importedSite();
    const json = { notes: "Ours" };
    await site.app.call(site.path, { method: "PATCH", key: site.key, json });
    expect(verdictsOf(await site.import([checkOf(FIRST)]))).toEqual(["unchanged"]);
    const report = await site.import([checkOf(FIRST, { desc: "Theirs" })]);
    expect(checkItems(report)).toMatchObject([
      { verdict: "kept", reason: "It was edited here.", target: { kind: "monitor" } },
    ]);
    expect(site.monitorNow()?.notes).toBe("Ours");
  });

  test("does not create a monitor again that was deleted here", async () => {
    await using site = await importedSite();
    await site.app.call(site.path, { method: "DELETE", key: site.key });
    const report = await site.import([checkOf(FIRST, { desc: "Theirs" })]);
    expect(checkItems(report)).toMatchObject([
      { verdict: "kept", reason: "It was deleted here.", target: null },
    ]);
    expect(site.monitors()).toEqual([]);
    const { db } = site.app.ctx;
    expect(findTokenOwner(db, { kind: "healthchecks", value: FIRST })).toBeUndefined();
  });

  test("keeps a monitor whose check is gone from the source", async () => {
    await using site = await importedSite();
    const report = await site.import([checkOf(SECOND, { name: "Another" })]);
    expect(checkItems(report)).toMatchObject([
      { verdict: "created", foreign: { name: "Another" } },
      { verdict: "kept", reason: "It is no longer in the source." },
    ]);
    expect(site.monitors()).toHaveLength(2);
  });

  test("keeps a monitor whose check is no longer valid, and says why", async () => {
    await using site = await importedSite();
    const report = await site.import([checkOf(FIRST, { grace: "soon" })]);
    expect(checkItems(report)).toMatchObject([
      {
        verdict: "kept",
        foreign: { name: "Nightly backup" },
        target: { ref: "nightly-backup" },
        reason: expect.stringContaining("grace"),
      },
    ]);
    expect(site.monitors()).toHaveLength(1);
  });

  test("pauses and resumes a monitor as the check is paused and resumed", async () => {
    await using site = await importedSite();
    const paused = { status: "paused", manual_resume: true };
    await site.import([checkOf(FIRST, paused)]);
    expect(site.monitorNow()?.paused).toBe(true);
    await site.import([checkOf(FIRST)]);
    expect(site.monitorNow()?.paused).toBe(false);
  });

  test("switches a monitor on whose check was mended", async () => {
    await using site = await importedSite({ filter_http_body: true });
    expect(site.monitorNow()?.paused).toBe(true);
    expect(verdictsOf(await site.import([checkOf(FIRST)]))).toEqual(["updated"]);
    expect(site.monitorNow()?.paused).toBe(false);
  });

  test("renames a component of a renamed check, unless it has another name", async () => {
    await using site = await importedSite();
    const names = () => {
      const [page] = listAllPages(site.app.ctx.db, {});
      return listComponentsOfPage(site.app.ctx.db, { pageId: page?.id ?? "" }).map(
        ({ name }) => name,
      );
    };
    await site.import([checkOf(FIRST, { name: "Weekly backup" })]);
    expect(names()).toEqual(["Weekly backup"]);
    await site.import([checkOf(FIRST, { name: "Daily backup" })]);
    expect(names()).toEqual(["Daily backup"]);
  });

  test("under another name is another source, whose monitors nobody calls and which are off", async () => {
    await using site = await importedSite();
    const report = await site.import([checkOf(FIRST)], { source: "other" });
    expect(checkItems(report)).toMatchObject([
      {
        verdict: "disabled",
        changes: [{ field: "address", from: "set", to: "none" }],
        reason: expect.stringContaining("no job can call it"),
      },
    ]);
    const { db } = site.app.ctx;
    const owner = findTokenOwner(db, { kind: "healthchecks", value: FIRST });
    const [first, second] = site.monitors();
    expect(owner?.monitorId).toBe(first?.id ?? "");
    expect(second).toMatchObject({ ref: "nightly-backup-2", paused: true });
    const changed = [checkOf(FIRST, { desc: "Newer" })];
    expect(verdictsOf(await site.import(changed, { source: "other" }))).toEqual(["disabled"]);
    expect(site.monitors()[1]).toMatchObject({ notes: "Newer", paused: true });
  });

  test("gives every check exactly one verdict, also if the source has it twice", async () => {
    await using site = await importedSite();
    const checks = [checkOf(FIRST), checkOf(SECOND), checkOf(SECOND), checkOf(THIRD, { grace: 0 })];
    const report = await site.import([...checks, "no check"]);
    expect(verdictsOf(report)).toEqual(["unchanged", "created", "disabled", "held", "not_moved"]);
  });
});

describe("an import", () => {
  test("leaves one audit entry with its counts, and no event", async () => {
    await using site = await createImportSite();
    const key = await site.app.keyWith("manage:webhooks");
    await site.app.call("/api/v1/webhooks", {
      method: "POST",
      key,
      json: { url: "https://receiver.test/hook", events: ["*"] },
    });
    const [events, entries] = [site.app.events().length, site.app.audit().length];
    const report = await site.import([checkOf(FIRST), checkOf(SECOND, { methods: "PUT" })]);
    expect(site.app.events()).toHaveLength(events);
    const left = site.app.audit().slice(entries);
    expect(left).toHaveLength(1);
    expect(left[0]).toMatchObject({
      action: "import.run",
      actorKind: "cli",
      summary: "Imported from Healthchecks (default): 2 created, 1 changed",
      targetId: report.id ?? "",
    });
  });

  test("of another installation under a known name is refused", async () => {
    await using site = await createImportSite();
    await site.import([checkOf(FIRST)], { fingerprint: "a".repeat(64) });
    const other = { fingerprint: "b".repeat(64) };
    await expect(site.import([checkOf(SECOND)], other)).rejects.toThrow(
      "another name for the source",
    );
    expect(site.monitors()).toHaveLength(1);
    expect((await site.import([checkOf(SECOND)], { ...other, source: "two" })).id).not.toBeNull();
  });
});

test("the screen of an imported monitor names its source, and that of another none", async () => {
  await using site = await importedSite();
  const json = { type: "push", name: "Ours" };
  await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
  const session = await site.app.signedIn("viewer");
  const shown = await Promise.all(
    site.monitors().map(({ id }) => site.app.call(`/admin/monitors/${id}`, { session })),
  );
  expect(shown.map(({ text }) => text.includes("Healthchecks (default)"))).toEqual([true, false]);
  expect(shown.map(({ text }) => text.includes("configuration file"))).toEqual([false, false]);
});

describe("monitors that are on no page", () => {
  const pagesOf = (site: Awaited<ReturnType<typeof createImportSite>>) =>
    listAllPages(site.app.ctx.db, {}).toReversed();

  test("get components on a private page, which is not the default page", async () => {
    await using site = await createImportSite();
    const report = await site.import([checkOf(FIRST), checkOf(SECOND)]);
    const [page] = pagesOf(site);
    expect(page).toMatchObject({
      slug: "internal",
      name: "Internal",
      visibility: "private",
      isDefault: false,
      managedBy: "import",
    });
    expect(report.items[0]).toMatchObject({
      verdict: "created",
      foreign: { type: "internal page", id: "internal" },
      target: { kind: "page", ref: "internal" },
    });
    const components = listComponentsOfPage(site.app.ctx.db, { pageId: page?.id ?? "" });
    expect(components.map(({ name, ref }) => [name, ref])).toEqual([
      ["Nightly backup", "nightly-backup"],
      ["Nightly backup", "nightly-backup-2"],
    ]);
    const { page: first } = await site.app.page({ slug: "acme" });
    expect(first.isDefault).toBe(true);
  });

  test("use a private page of that name, after its components", async () => {
    await using site = await createImportSite();
    await site.app.page({ slug: "ops", visibility: "private" }, ["Nightly backup"]);
    const report = await site.import([checkOf(FIRST)], { internalPage: "ops" });
    expect(report.counts).toEqual({ created: 1 });
    expect(pagesOf(site).map(({ slug }) => slug)).toEqual(["ops"]);
  });

  test("get a page with a number if a public page has the name", async () => {
    await using site = await createImportSite();
    await site.app.page({ slug: "internal" });
    await site.app.page({ slug: "internal-2" });
    const report = await site.import([checkOf(FIRST)]);
    expect(report.items[0]).toMatchObject({
      verdict: "changed",
      changes: [{ field: "slug", from: "internal", to: "internal-3" }],
    });
    await site.import([checkOf(SECOND)]);
    expect(pagesOf(site).map(({ slug }) => slug)).toEqual(["internal", "internal-2", "internal-3"]);
  });

  test("get no component on that page after it was made public here", async () => {
    await using site = await createImportSite();
    await site.import([checkOf(FIRST)]);
    const [page] = pagesOf(site);
    const { ctx } = site.app;
    const change = { visibility: "public" } as const;
    await ctx.db.write((tx) => updatePage(ctx, tx, page?.id ?? "", change, CLI_ACTOR));
    const report = await site.import([checkOf(FIRST), checkOf(SECOND, { name: "Secret job" })]);
    const [item] = report.items.filter(({ foreign }) => foreign.type === "internal page");
    expect(item).toMatchObject({
      verdict: "kept",
      reason: "It was published here, so new monitors have no component.",
    });
    const components = listComponentsOfPage(site.app.ctx.db, { pageId: page?.id ?? "" });
    expect(components.map(({ name }) => name)).toEqual(["Nightly backup"]);
    expect(site.monitors()).toHaveLength(2);
  });

  test("get no component without such a page, or after it was deleted here", async () => {
    await using site = await createImportSite();
    await site.import([checkOf(FIRST)], { internalPage: null });
    expect(pagesOf(site)).toEqual([]);
    await site.import([checkOf(SECOND)]);
    const { ctx } = site.app;
    const [page] = pagesOf(site);
    await ctx.db.write((tx) => deletePage(ctx, tx, page?.id ?? "", CLI_ACTOR));
    const report = await site.import([checkOf(THIRD)]);
    expect(report.items[0]).toMatchObject({
      verdict: "kept",
      foreign: { type: "internal page" },
      reason: "It was deleted here, so new monitors have no component.",
    });
    expect(pagesOf(site)).toEqual([]);
    expect(site.monitors()).toHaveLength(3);
  });
});
