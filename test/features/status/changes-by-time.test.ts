import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../src/base/time";
import { createPublicSite, type PublicSite } from "../../support/public-site";

/** Reads the document just before an instant and at it. */
async function around<T>(
  site: PublicSite,
  instant: string,
  read: () => Promise<T>,
): Promise<{ before: T; after: T }> {
  await site.app.clock.advance(Date.parse(instant) - 1 - site.app.clock.now());
  const before = await read();
  await site.app.clock.advance(1);
  return { before, after: await read() };
}

describe("changes of a page by time alone", () => {
  test("a page changes when maintenance comes within 30 days and when its planned time ends", async () => {
    await using site = await createPublicSite();
    const manual = { auto_start: false };
    await site.plan("2026-04-10T12:00:10Z", "2026-04-10T13:00:00Z", { ...manual, name: "Far" });
    await site.plan("2026-03-10T12:01:00Z", "2026-03-10T12:02:00Z", { ...manual, name: "Near" });
    const names = async () =>
      (await site.document()).maintenance.map((each: { name: string }) => each.name);
    expect(await names()).toEqual(["Near"]);
    expect(await around(site, "2026-03-10T12:02:00Z", names)).toEqual({
      before: ["Near"],
      after: [],
    });
    expect(await around(site, "2026-03-11T12:00:10Z", names)).toEqual({
      before: [],
      after: ["Far"],
    });
  });

  test("a page changes at midnight UTC", async () => {
    await using site = await createPublicSite();
    const docs = site.ids["Docs"] ?? "";
    const today = async () => new Date(site.snapshot().days.get(docs)?.at(-1)?.start ?? 0).toJSON();
    expect(await around(site, "2026-03-11T00:00:00Z", today)).toEqual({
      before: "2026-03-10T00:00:00.000Z",
      after: "2026-03-11T00:00:00.000Z",
    });
  });

  test("a snapshot is renewed after exactly five minutes", async () => {
    await using site = await createPublicSite();
    const first = site.snapshot();
    await site.app.clock.advance(5 * MINUTE_MS - 1);
    expect(site.snapshot()).toBe(first);
    await site.app.clock.advance(1);
    expect(site.snapshot()).not.toBe(first);
  });

  test("a change of a page does not postpone the renewal of its snapshot", async () => {
    await using site = await createPublicSite();
    const { staleAt } = site.snapshot();
    await site.app.clock.advance(4 * MINUTE_MS);
    await site.open({ components: { [site.ids["Web"] ?? ""]: "major_outage" } });
    expect(site.snapshot().staleAt).toBe(staleAt);
  });

  test("maintenance of other pages does not renew a snapshot", async () => {
    await using site = await createPublicSite();
    const other = await site.app.page({ slug: "other" }, []);
    const page = { page: other.page.id };
    await site.plan("2026-03-10T12:01:00Z", "2026-03-10T12:02:00Z", page);
    expect(site.snapshot().staleAt - site.app.clock.now()).toBe(5 * MINUTE_MS);
    await site.plan("2026-03-10T12:01:00Z", "2026-03-10T12:02:00Z");
    expect(site.snapshot().staleAt - site.app.clock.now()).toBe(MINUTE_MS);
  });
});
