import { expect, test } from "bun:test";
import { readEntryNames } from "../../../src/features/status";
import { createPublicSite, type PublicSite } from "../../support/public-site";

function read({ app, page }: PublicSite) {
  return readEntryNames(app.ctx.db, { pageId: page.id, days: 90, now: app.clock.now() });
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
  const names = read(site);
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
  expect(read(site).find(old.id)).toBeUndefined();
});

test("the version of names changes with a name and not with an update", async () => {
  await using site = await createPublicSite();
  const { app, key } = site;
  const { id } = await site.open({ name: "Errors" });
  const { version } = read(site);
  await site.update(id, { status: "identified" });
  expect(read(site).version).toBe(version);
  const path = `/api/v1/incidents/${id}`;
  await app.call(path, { method: "PATCH", key, json: { name: "Timeouts" } });
  expect(read(site).version).not.toBe(version);
});
