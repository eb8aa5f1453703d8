import { expect, test } from "bun:test";
import { findIncidentNames } from "../../../src/features/incidents/store";
import { createEntryNamesCache, readEntryNames } from "../../../src/features/status/entries";
import { createSnapshots } from "../../../src/features/status/snapshots";
import { createPublicSite, type PublicSite } from "../../support/public-site";

/** Returns a function that reads the names of the page as it is. */
function readerOf({ app }: PublicSite, readNames = readEntryNames) {
  const snapshots = createSnapshots(app.ctx);
  return () => {
    const snapshot = snapshots.read("acme", app.clock.now());
    if (!snapshot) throw new Error("the page has no snapshot");
    return readNames(app.ctx.db, snapshot, app.clock.now());
  };
}

test("names are those of the page's published incidents and its maintenance", async () => {
  await using site = await createPublicSite();
  await site.app.page({ slug: "other" }, []);
  const times = { started_at: "2026-03-01T10:00:00Z", resolved_at: "2026-03-01T11:00:00Z" };
  const open = await site.open({ name: "Open" });
  const resolved = await site.open({ name: "Resolved", ...times });
  const draft = await site.open({ name: "Draft", draft: true });
  const resolvedDraft = await site.open({ name: "Old draft", draft: true, ...times });
  const elsewhere = await site.open({ name: "Elsewhere", page: "other" });
  const planned = await site.plan("2026-03-10T12:00:10Z", "2026-03-10T13:00:00Z");
  await site.updateMaintenance(planned.id, { status: "in_progress" });
  const names = readerOf(site)();
  expect(names.find(open.id)).toEqual({ kind: "incident", name: "Open" });
  expect(names.find(resolved.id)).toEqual({ kind: "incident", name: "Resolved" });
  expect(names.find(planned.id)).toEqual({ kind: "maintenance", name: "Upgrade" });
  for (const { id } of [draft, resolvedDraft, elsewhere]) {
    expect(names.find(id)).toBeUndefined();
  }
});

test("an incident that was resolved before the first day has no name", async () => {
  await using site = await createPublicSite();
  const times = { started_at: "2025-11-01T10:00:00Z", resolved_at: "2025-11-01T11:00:00Z" };
  const old = await site.open({ name: "Old", ...times });
  expect(readerOf(site)().find(old.id)).toBeUndefined();
});

test("cached names are the same object after an update, and new ones after a change of a name", async () => {
  await using site = await createPublicSite();
  const { app, key } = site;
  const { id } = await site.open({ name: "Errors" });
  const read = readerOf(site, createEntryNamesCache());
  const names = read();
  await site.update(id, { status: "identified" });
  expect(read()).toBe(names);
  const path = `/api/v1/incidents/${id}`;
  await app.call(path, { method: "PATCH", key, json: { name: "Timeouts" } });
  expect(read()).not.toBe(names);
  expect(read().find(id)?.name).toBe("Timeouts");
});

test("at most so many names of resolved incidents are found, those resolved last", async () => {
  await using site = await createPublicSite();
  const { app, page } = site;
  const ids: string[] = [];
  for (const hour of ["08", "09", "10"]) {
    const times = { started_at: "2026-03-01T07:00:00Z", resolved_at: `2026-03-01T${hour}:00:00Z` };
    // oxlint-disable-next-line no-await-in-loop
    ids.push((await site.open({ name: `Resolved at ${hour}`, ...times })).id);
  }
  const open = await site.open({ name: "Open" });
  const found = findIncidentNames(app.ctx.db, { pageId: page.id, since: 0, limit: 2 });
  expect(Object.keys(JSON.parse(found?.resolved ?? "")).toSorted()).toEqual(
    ids.slice(1).toSorted(),
  );
  expect(JSON.parse(found?.open ?? "")).toEqual({ [open.id]: "Open" });
});
