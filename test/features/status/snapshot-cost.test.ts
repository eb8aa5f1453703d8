import { expect, test } from "bun:test";
import { buildSnapshot } from "../../../src/features/status/snapshots";
import { CLI_ACTOR } from "../../../src/base/actor";
import { DAY_MS, HOUR_MS, toIso } from "../../../src/base/time";
import { counted } from "../../support/counted-transaction";
import { createPublicSite } from "../../support/public-site";
import { createIncident } from "../../support/examined";

/** Measures the reads of a snapshot of a page with resolved incidents from some days ago. */
async function costOf(incidents: number, daysAgo: number) {
  await using site = await createPublicSite();
  const { ctx } = site.app;
  const from = site.app.clock.now() - daysAgo * DAY_MS;
  return ctx.db.write((tx) => {
    for (let n = 0; n < incidents; n++) {
      const input = {
        page: "acme",
        name: `No. ${n}`,
        body: "Hm.",
        components: { [site.ids["API"] ?? ""]: "major_outage" as const },
        started_at: toIso(from),
        resolved_at: toIso(from + HOUR_MS),
      };
      createIncident(ctx, tx, input, "api", CLI_ACTOR);
    }
    const counting = counted(tx);
    buildSnapshot(counting.tx, site.page, ctx.baseUrl, site.app.clock.now());
    return { statements: counting.statements(), rows: counting.rows() };
  });
}

test("a snapshot reads only those past incidents whose causes are within the shown days", async () => {
  const none = await costOf(0, 10);
  expect(await costOf(50, 10)).toEqual({ ...none, rows: none.rows + 50 });
  expect(await costOf(50, 100)).toEqual(none);
});
