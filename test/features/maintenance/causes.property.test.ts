import { expect, test } from "bun:test";
import fc from "fast-check";
import { listComponentsOfPage } from "../../../src/features/components/store";
import { cancelMaintenance } from "../../../src/features/maintenance/maintenance";
import { isUnderWay } from "../../../src/features/maintenance/rules";
import { listMaintenance } from "../../../src/features/maintenance/records";
import type { Tx } from "../../../src/db/statements";
import { Problem } from "../../../src/base/errors";
import { CLI_ACTOR } from "../../../src/base/actor";
import { MAINTENANCE_STATUSES } from "../../../src/base/status";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../src/base/time";
import { createMaintenanceSite, type MaintenanceSite } from "../../support/maintenance-site";
import { addMaintenanceUpdate, planMaintenance, updateMaintenance } from "../../support/examined";

const COMPONENTS = ["API", "Web"];

const which = fc.nat({ max: 2 });
const chosen = fc.subarray(COMPONENTS);
const minutes = fc.integer({ min: -30, max: 30 });
const length = fc.integer({ min: 1, max: 30 });

/** Actions of the test. Times are in minutes after the action. */
const happening = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("plan" as const),
      chosen,
      from: minutes,
      length,
      isAutomatic: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      which,
      status: fc.constantFrom("in_progress", "verifying", ...MAINTENANCE_STATUSES),
      ago: fc.option(fc.nat({ max: 20 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("choose" as const), which, chosen }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("move" as const), which, from: minutes, length }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      minutes: fc.integer({ min: -2, max: 20 }),
    }),
  },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** Does it, or finds it refused, which is an answer too. */
async function happen(site: MaintenanceSite, ids: string[], next: Happening): Promise<void> {
  const { ctx } = site.app;
  const now = ctx.clock.now();
  const window = (from: number, minutesLong: number) => ({
    scheduled_for: toIso(now + from * MINUTE_MS),
    scheduled_until: toIso(now + (from + minutesLong) * MINUTE_MS),
  });
  const components = (names: string[]) => names.map((name) => site.ids[name] ?? "");
  const change = (tx: Tx) => {
    if (next.do === "wait") return;
    if (next.do === "plan") {
      const { from, length: minutesLong, isAutomatic } = next;
      const planned = {
        page: "acme",
        name: "M",
        body: "x",
        components: components(next.chosen),
        ...window(from, minutesLong),
        auto_start: isAutomatic,
      };
      ids.push(planMaintenance(ctx, tx, planned, CLI_ACTOR).id);
      return;
    }
    const id = ids.at(-1 - next.which) ?? "none";
    if (next.do === "cancel") cancelMaintenance(ctx, tx, id, CLI_ACTOR);
    else if (next.do === "choose") {
      updateMaintenance(ctx, tx, id, { components: components(next.chosen) }, CLI_ACTOR);
    } else if (next.do === "move") {
      updateMaintenance(ctx, tx, id, window(next.from, next.length), CLI_ACTOR);
    } else {
      const displayed = next.ago === null ? {} : { display_at: toIso(now - next.ago * MINUTE_MS) };
      const update = { status: next.status, body: "x", ...displayed };
      addMaintenanceUpdate(ctx, tx, id, update, CLI_ACTOR);
    }
  };
  if (next.do === "wait") {
    site.clock.setWallClock(now + next.minutes * MINUTE_MS);
    await site.clock.advance(SECOND_MS);
    return;
  }
  const before = site.app.events();
  try {
    await ctx.db.write(change);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    expect(site.app.events()).toEqual(before);
  }
}

/** The components that a maintenance which is under way names, by id. */
function underWay(site: MaintenanceSite): Set<string> {
  const records = listMaintenance(site.app.ctx.db, { limit: 1_000 });
  return new Set(
    records
      .filter(({ row }) => isUnderWay(row.status))
      .flatMap(({ components }) => components.map(({ id }) => id)),
  );
}

test("a component is under maintenance exactly while a maintenance that names it is in progress", async () => {
  let causeCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 25 }), async (happenings) => {
      await using site = await createMaintenanceSite({ isClockRunning: true });
      const ids: string[] = [];
      for (const next of happenings) {
        await happen(site, ids, next);
        const expected = underWay(site);
        causeCount += expected.size;
        for (const row of listComponentsOfPage(site.app.ctx.db, { pageId: site.page.id })) {
          const status = expected.has(row.id) ? "under_maintenance" : "operational";
          expect({ name: row.name, status: row.status }).toEqual({ name: row.name, status });
        }
        const open = site.causes().filter(({ to }) => to === null);
        expect(open.length > 0).toBe(expected.size > 0);
      }
    }),
    { numRuns: 60 },
  );
  expect(causeCount).toBeGreaterThan(0);
}, 600_000);
