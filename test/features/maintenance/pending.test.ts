import { describe, expect, test } from "bun:test";
import { listPendingMaintenance } from "../../../src/features/maintenance/records";
import { at, createMaintenanceSite } from "../../support/maintenance-site";

describe("pending maintenance", () => {
  test("listPendingMaintenance returns maintenance in progress, then scheduled, each by planned start", async () => {
    await using site = await createMaintenanceSite();
    await site.plan({
      name: "In a year",
      scheduled_for: "2027-03-10T14:00:00Z",
      scheduled_until: "2027-03-10T15:00:00Z",
    });
    await site.plan({ name: "Soon" });
    const begun = await site.plan({
      name: "Begun",
      scheduled_for: at("16:00:00"),
      scheduled_until: at("17:00:00"),
    });
    await site.update(begun, { status: "in_progress", body: "Now." });
    await site.cancel(await site.plan({ name: "Cancelled" }));
    const names = (query: { pageId?: string; limit: number }) =>
      listPendingMaintenance(site.app.ctx.db, query).map(({ row }) => row.name);
    expect(names({ limit: 10 })).toEqual(["Begun", "Soon", "In a year"]);
    expect(names({ limit: 2 })).toEqual(["Begun", "Soon"]);
    expect(names({ pageId: site.page.id, limit: 10 })).toEqual(["Begun", "Soon", "In a year"]);
    expect(names({ pageId: "page_other", limit: 10 })).toEqual([]);
  });
});
