import fc from "fast-check";
import type { Tx } from "../../src/db/statements";
import { CLI_ACTOR } from "../../src/base/actor";
import { NameText } from "../../src/base/texts";
import { listComponentsOfPage } from "../../src/features/components/store";
import { deleteSchedule } from "../../src/features/maintenance/schedules/schedules";
import { listSchedules } from "../../src/features/maintenance/schedules/store";
import { listAllPages } from "../../src/features/pages/store";
import { UpdateText } from "../../src/features/timeline/updates";
import type { TestApp } from "./app";
import { textOf } from "./arbitrary-text";
import { createSchedule, updateSchedule } from "./examined";

/** Fields of a maintenance schedule; its page is selected by the action. Some combinations are refused. */
export const arbitrarySchedule = fc.record(
  {
    name: textOf(NameText, 12),
    body: textOf(UpdateText, 60),
    cron: fc.constantFrom("0 2 * * 1", "30 1 L * *", "0  3 1 JAN,jul *", "0 0 * * SUN#1"),
    duration_minutes: fc.constantFrom(1, 90, 43_200),
    time_zone: fc.constantFrom("UTC", "America/New_York"),
    every_days: fc.constantFrom(null, 1, 3),
    starts_on: fc.constantFrom(null, "2026-03-12", "1999-12-31"),
    ends_on: fc.constantFrom(null, "2026-12-31"),
    remind_minutes_before: fc.constantFrom(null, 60, 15),
    enabled: fc.boolean(),
    /** Number of the first components of the page that it names. */
    named: fc.nat({ max: 3 }),
  },
  { requiredKeys: ["name", "body", "cron", "duration_minutes", "named"] },
);

interface ScheduleAct {
  what: string;
  which: number;
  word: string;
  scheduleFields: typeof arbitrarySchedule extends fc.Arbitrary<infer T> ? T : never;
}

/** Adds, changes or deletes a schedule. */
export function performOnSchedule({ ctx }: TestApp, tx: Tx, act: ScheduleAct): void {
  const { what, which, word } = act;
  const { named, ...fields } = act.scheduleFields;
  const pages = listAllPages(tx, {});
  const page = pages[which % pages.length];
  if (!page) return;
  const ids = listComponentsOfPage(tx, { pageId: page.id }).map(({ id }) => id);
  const input = { ...fields, page: page.id, components: ids.slice(0, named) };
  if (what === "add schedule") {
    createSchedule(ctx, tx, input, CLI_ACTOR);
    return;
  }
  const schedules = listSchedules(tx);
  const row = schedules[which % schedules.length]?.row;
  if (!row) return;
  if (what === "edit schedule") updateSchedule(ctx, tx, row.id, input, CLI_ACTOR, { ref: word });
  if (what === "delete schedule") deleteSchedule(ctx, tx, row.id, CLI_ACTOR);
}
