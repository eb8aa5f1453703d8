import { expect, test } from "bun:test";
import fc from "fast-check";
import { MAINTENANCE_STATUSES } from "../../../src/base/status";
import { MINUTE_MS } from "../../../src/base/time";
import { dueTransitions } from "../../../src/features/maintenance/rules";
import {
  findNextDue,
  insertMaintenance,
  listDue,
  type MaintenanceRow,
} from "../../../src/features/maintenance/store";
import { TEST_START } from "../../support/clock";
import { createMaintenanceSite } from "../../support/maintenance-site";

const minute = fc.integer({ min: -5, max: 5 });

const schedule = fc.record({
  status: fc.constantFrom(...MAINTENANCE_STATUSES),
  from: minute,
  length: fc.integer({ min: 1, max: 5 }),
  startedAt: minute,
  autoStart: fc.boolean(),
  autoComplete: fc.boolean(),
  remindMinutesBefore: fc.option(fc.integer({ min: 1, max: 5 })),
  isReminded: fc.boolean(),
});

test("listDue returns exactly the maintenances with due transitions, and findNextDue no later time than the next's", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(schedule, { minLength: 1, maxLength: 20 }), async (schedules) => {
      await using site = await createMaintenanceSite();
      const { ctx } = site.app;
      const rows = schedules.map((given): MaintenanceRow => {
        const isBegun = given.status !== "scheduled" && given.status !== "cancelled";
        const { status, autoStart, autoComplete, remindMinutesBefore } = given;
        return {
          id: ctx.newId("mnt"),
          pageId: site.page.id,
          name: "M",
          status,
          scheduledFor: TEST_START + given.from * MINUTE_MS,
          scheduledUntil: TEST_START + (given.from + given.length) * MINUTE_MS,
          startedAt: isBegun ? TEST_START + given.startedAt * MINUTE_MS : null,
          completedAt: null,
          autoStart,
          autoComplete,
          remindMinutesBefore,
          remindedAt: given.isReminded ? TEST_START : null,
          version: 1,
          createdAt: TEST_START,
          updatedAt: TEST_START,
          deletedAt: null,
          scheduleId: null,
          occurrenceAt: null,
          author: "person",
        };
      });
      await ctx.db.write((tx) => {
        for (const row of rows) insertMaintenance(tx, row);
      });
      const due = rows
        .map((row) => ({ id: row.id, at: dueTransitions(row, TEST_START)[0]?.at }))
        .filter((each): each is { id: string; at: number } => each.at !== undefined)
        .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id);
      const found = listDue(ctx.db, { now: TEST_START, limit: 100 });
      expect(found.map(({ row }) => row.id)).toEqual(due);
      const soon = TEST_START + 20 * MINUTE_MS;
      const starts = rows
        .filter(({ id }) => !due.includes(id))
        .flatMap((row) => [
          ...dueTransitions(row, row.scheduledFor - 1),
          ...dueTransitions(row, soon),
        ])
        .map(({ at }) => at)
        .filter((at) => at > TEST_START);
      const next = findNextDue(ctx.db, { now: TEST_START })?.at ?? Infinity;
      expect(next).toBeGreaterThan(TEST_START);
      expect(next).toBeLessThanOrEqual(Math.min(...starts));
    }),
    { numRuns: 60 },
  );
});
