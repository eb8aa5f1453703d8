import { expect, test } from "bun:test";
import fc from "fast-check";
import { findSchedule } from "../../../src/features/maintenance/schedules/store";
import { listOccurrences } from "../../../src/features/maintenance/schedules/rules";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { createScheduleSite, type Occurrence } from "../../support/maintenance-schedules";

const change = fc.oneof(
  fc.record({ cron: fc.constantFrom("0 2 * * *", "30 2 * * *", "0 2 * * SUN", "0 */6 * * *") }),
  fc.record({ name: fc.constantFrom("First", "Second") }),
  fc.record({ enabled: fc.boolean() }),
  fc.record({ time_zone: fc.constantFrom("Europe/Berlin", "America/New_York") }),
  fc.record({
    every_days: fc.constantFrom(null, 2, 3),
    starts_on: fc.constantFrom("2026-03-01", "2026-03-20"),
  }),
  fc.record({ ends_on: fc.constantFrom(null, "2026-04-15") }),
);

const step = fc.oneof(
  fc.record({ kind: fc.constant("change" as const), change }),
  fc.record({ kind: fc.constantFrom("edit", "cancel"), index: fc.nat({ max: 5 }) }),
  fc.record({ kind: fc.constant("pass" as const), hours: fc.integer({ min: 1, max: 24 * 12 }) }),
  fc.record({ kind: fc.constant("set" as const), days: fc.integer({ min: -20, max: 60 }) }),
);

test("after any history a schedule has each occurrence once, and those that people changed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      await using schedules = await createScheduleSite();
      const { site, send, create, occurrences } = schedules;
      const id = await create();
      const touched = new Map<string, Pick<Occurrence, "id" | "name" | "status">>();
      for (const each of steps) {
        if (each.kind === "change") {
          expect((await send("PATCH", `/${id}`, each.change)).status).toBe(200);
        } else if (each.kind === "pass") await site.skip(each.hours * HOUR_MS);
        else if (each.kind === "set") {
          site.clock.setWallClock(site.clock.now() + each.days * DAY_MS);
        } else {
          const coming = (await occurrences()).filter(({ status }) => status === "scheduled");
          const one = coming[each.index];
          const answer =
            one &&
            (each.kind === "edit"
              ? await site.patch(one.id, { name: "Edited" })
              : await site.cancel(one.id));
          // After a jump of the clock, an occurrence can be over before the clock has closed it.
          if (one && answer && answer.status < 300) {
            const status = each.kind === "cancel" ? "cancelled" : one.status;
            const name = each.kind === "edit" ? "Edited" : one.name;
            touched.set(one.id, { id: one.id, status, name });
          }
        }
        await site.skip(MINUTE_MS);
      }
      // The clock makes 50 occurrences in a transaction, each in a turn of the event loop.
      for (let minutes = 0; minutes < 4; minutes++) await site.skip(MINUTE_MS);
      const now = site.clock.now();
      const row = findSchedule(site.app.ctx.db, id)?.row;
      const found = await occurrences();
      const expected =
        row?.enabled === true
          ? listOccurrences(row, now, { count: 1_000, until: now + 30 * DAY_MS })
          : [];
      const times = found.map((one) => Date.parse(one.occurrence_at ?? ""));
      expect(new Set(times).size).toBe(times.length);
      expect(expected.filter((at) => !times.includes(at))).toEqual([]);
      const isUntouched = ({ status, scheduled_for, version }: Occurrence) =>
        status === "scheduled" && version === 1 && Date.parse(scheduled_for) > now;
      const untouched = found.filter(isUntouched).map((one) => Date.parse(one.scheduled_for));
      const near = untouched.filter((at) => at < now + 30 * DAY_MS);
      expect(near.filter((at) => !expected.includes(at))).toEqual([]);
      for (const { id: touchedId, name, status } of touched.values()) {
        const one = found.find((each) => each.id === touchedId);
        expect(one?.name).toBe(name);
        if (status === "cancelled") expect(one?.status).toBe(status);
      }
    }),
    { numRuns: 3 },
  );
}, 600_000);
