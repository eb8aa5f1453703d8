import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { createPublicSite, type PublicSite } from "../../support/public-site";

describe("past entries", () => {
  const names = (of: readonly { name: string }[]) => of.map(({ name }) => name);
  const pastOf = (site: PublicSite) =>
    names(
      site
        .past()
        .map(({ subject }) =>
          subject.kind === "incident" ? subject.incident : subject.maintenance,
        ),
    );

  test("past incidents are those that ended within 15 UTC days, which every time zone needs, last started first", async () => {
    await using site = await createPublicSite();
    const ended = (name: string, started_at: string, resolved_at: string) =>
      site.open({ name, started_at, resolved_at });
    await ended("Too old", "2026-02-01T00:00:00Z", "2026-02-23T23:59:59Z");
    await ended("Long", "2026-02-01T00:00:00Z", "2026-02-24T00:00:00Z");
    await ended("Short", "2026-03-01T00:00:00Z", "2026-03-01T00:01:00Z");
    await site.open({ name: "Open" });
    await site.open({
      name: "Drafted",
      resolved_at: "2026-03-10T11:00:00Z",
      draft: true,
      started_at: "2026-03-10T10:00:00Z",
    });
    expect(pastOf(site)).toEqual(["Short", "Long"]);
    expect(names(site.snapshot().document.incidents)).toEqual(["Open"]);
    await site.app.clock.advance(12 * HOUR_MS);
    expect(pastOf(site)).toEqual(["Short"]);
  });

  test("past maintenance is that which was completed, or cancelled after its start", async () => {
    await using site = await createPublicSite();
    const plan = async (name: string, statuses: string[]) => {
      const span = ["2026-03-10T13:00:00Z", "2026-03-10T14:00:00Z"] as const;
      const { id } = await site.plan(...span, { name });
      for (const status of statuses) await site.updateMaintenance(id, { status });
    };
    await plan("Done", ["in_progress", "completed"]);
    await site.app.clock.advance(1);
    await plan("Broken off", ["in_progress", "cancelled"]);
    await plan("Called off", ["cancelled"]);
    await plan("Under way", ["in_progress"]);
    expect(pastOf(site)).toEqual(["Broken off", "Done"]);
    expect(names(site.snapshot().document.maintenance)).toEqual(["Under way"]);
    await site.app.clock.advance(15 * DAY_MS);
    expect(pastOf(site)).toEqual([]);
  });
});

describe("the days of a snapshot", () => {
  test("a snapshot contains the days of every component as configured, with their outages", async () => {
    await using site = await createPublicSite({ history_days: 30 });
    const { Docs = "", API = "" } = site.ids;
    await site.open({
      components: { [Docs]: "major_outage" },
      started_at: "2026-03-09T00:00:00Z",
      resolved_at: "2026-03-09T06:00:00Z",
    });
    const { days, document } = site.snapshot();
    expect([...days.keys()].toSorted()).toEqual(document.components.map(({ id }) => id).toSorted());
    const own = days.get(Docs) ?? [];
    expect(own).toHaveLength(30);
    expect(own.at(-2)?.time.major_outage).toBe(6 * HOUR_MS);
    expect(own.at(-1)?.known).toBe(12 * HOUR_MS);
    // Made today, and so not known before.
    expect(days.get(API)?.map(({ known }) => known)).toEqual(Array.from({ length: 30 }, () => 0));
  });

  test("a snapshot contains up to 365 days if the page shows them", async () => {
    await using site = await createPublicSite({ history_days: 365 });
    const { Docs = "" } = site.ids;
    await site.open({
      components: { [Docs]: "major_outage" },
      started_at: "2025-12-01T00:00:00Z",
      resolved_at: "2026-01-02T00:00:00Z",
    });
    const own = site.snapshot().days.get(Docs) ?? [];
    expect(own).toHaveLength(365);
    const down = own.filter(({ time }) => time.major_outage > 0);
    // Known since the first of January only.
    expect(down.map(({ start }) => new Date(start).toJSON())).toEqual(["2026-01-01T00:00:00.000Z"]);
  });
});
