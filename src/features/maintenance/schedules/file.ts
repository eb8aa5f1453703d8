/* Maintenance schedules in the configuration file: their schema, `applySchedules` and `exportSchedules`. */
import { type Static, Type } from "@sinclair/typebox";
import { invalidFields, pointer } from "../../../base/errors";
import { Text } from "../../../base/schema";
import { RefText } from "../../../base/texts";
import { validate } from "../../../base/validation";
import type { Reader } from "../../../db/statements";
import {
  type ApplyRun,
  type ComponentsOf,
  createComponentsOf,
  type Entry,
  nonDefault,
  pageOfEntry,
  PreviousRefs,
  RowsByRef,
} from "../../apply/run";
import type { ComponentRow } from "../../components/store";
import { findPage, type PageRow } from "../../pages/store";
import { REMIND_MINUTES_BEFORE } from "../rules";
import { createSchedule, deleteSchedule, updateSchedule } from "./schedules";
import { listSchedules, type ScheduleRecord, type ScheduleRow } from "./store";
import { CreateScheduleBody, ScheduleFields } from "./wire";

/** A maintenance schedule in a file. Its components are refs of components of its page. */
export const FileSchedule = Type.Object(
  {
    ...ScheduleFields,
    ref: Type.Optional(RefText),
    previous_refs: PreviousRefs,
    page: Text({ minLength: 1, maxLength: 63 }),
    components: Type.Optional(Type.Array(RefText, { uniqueItems: true })),
  },
  { additionalProperties: false },
);
export type FileSchedule = Static<typeof FileSchedule>;

type ScheduleWithRef = ScheduleRecord & { ref: string };

type ScheduleEntry = Entry<FileSchedule, ScheduleWithRef>;

/** Applies maintenance schedules, after the pages and their components. */
export function applySchedules(run: ApplyRun, schedules: readonly FileSchedule[]): void {
  const { ctx, tx, options } = run;
  const stored = listSchedules(tx).map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<ScheduleWithRef>(stored);
  const entries = schedules.map((item, index) =>
    rows.match(item, ["maintenance_schedules", index]),
  );
  // First, so that entries can take the refs of deleted ones.
  run.handleLeftovers("maintenance schedule", stored, entries, (id) =>
    deleteSchedule(ctx, tx, id, options.actor),
  );
  const componentsOf = createComponentsOf(tx);
  for (const entry of entries) applySchedule(run, entry, componentsOf);
}

function applySchedule(run: ApplyRun, entry: ScheduleEntry, componentsOf: ComponentsOf): void {
  const { ctx, tx, options } = run;
  const { item, ref, path, row: stored } = entry;
  const page = run.locatingErrors(path, () => pageOfEntry(tx, item.page));
  const components = run.locatingErrors(path, () => componentIdsOf(item, page, componentsOf));
  const desired = desiredSchedule(item, ref, page.timeZone);
  const { ref: _ref, ...fields } = desired;
  const input = { ...fields, page: page.id, components };
  run.apply<ScheduleRow, Record<string, unknown>>({
    noun: "maintenance schedule",
    label: stored?.ref ?? ref,
    address: null,
    path,
    row: stored?.row,
    current: ({ pageId }) => ({
      ...(stored && presentScheduleFields(stored, componentsOf)),
      page: findPage(tx, { id: pageId })?.slug ?? pageId,
    }),
    desired: { ...desired, page: page.slug },
    create() {
      const body = validate(CreateScheduleBody, input);
      return createSchedule(ctx, tx, body, options.actor, { ref, managedBy: "apply" }).row;
    },
    update(row) {
      const body = validate(CreateScheduleBody, input);
      return updateSchedule(ctx, tx, row.id, body, options.actor, { ref }).row;
    },
  });
}

/** Returns the ids of the components of a schedule. Throws for a ref that the page does not have. */
function componentIdsOf(
  { components = [] }: FileSchedule,
  page: PageRow,
  componentsOf: ComponentsOf,
): string[] {
  const ids = new Map(componentsOf(page.id).map(({ ref, id }) => [ref, id]));
  return components.map((ref, index) => {
    const id = ids.get(ref);
    if (id !== undefined) return id;
    const detail = `is not the ref of a component of the page ${page.slug}: ${ref}`;
    throw invalidFields([{ pointer: pointer("components", index), detail }]);
  });
}

/** Returns the maintenance schedules of these pages for the file, oldest first. */
export function exportSchedules(reader: Reader, pages: readonly PageRow[]): FileSchedule[] {
  const byId = new Map(pages.map((page) => [page.id, page]));
  const componentsOf = createComponentsOf(reader);
  return listSchedules(reader)
    .toReversed()
    .flatMap((record) => {
      const page = byId.get(record.row.pageId);
      if (!page) return [];
      const fields = presentScheduleFields(record, componentsOf);
      const { name, ref, body, cron, duration_minutes } = fields;
      const required = { body, cron, duration_minutes };
      const least = desiredSchedule({ name, ...required }, ref, page.timeZone);
      return [{ name, ref, page: page.slug, ...required, ...nonDefault(fields, least) }];
    });
}

/** Fields of a maintenance schedule without its page. Components are given by ref, in any order. */
type FileScheduleFields = Required<Omit<FileSchedule, "page" | "previous_refs">>;

/** `timeZone` is that of the page, which is the default. */
function desiredSchedule(
  schedule: Omit<FileSchedule, "page">,
  ref: string,
  timeZone: string,
): FileScheduleFields {
  const { remind_minutes_before: reminder = REMIND_MINUTES_BEFORE } = schedule;
  return {
    name: schedule.name,
    ref,
    body: schedule.body,
    cron: schedule.cron,
    duration_minutes: schedule.duration_minutes,
    time_zone: schedule.time_zone ?? timeZone,
    every_days: schedule.every_days ?? null,
    starts_on: schedule.starts_on ?? null,
    ends_on: schedule.ends_on ?? null,
    remind_minutes_before: reminder,
    enabled: schedule.enabled ?? true,
    components: [...(schedule.components ?? [])].sort(),
  };
}

/** `componentsOf` returns the components of a page by its id. */
function presentScheduleFields(
  { row, components }: ScheduleRecord,
  componentsOf: (pageId: string) => readonly Pick<ComponentRow, "id" | "ref">[],
): FileScheduleFields {
  const refs = new Map(componentsOf(row.pageId).map(({ id, ref }) => [id, ref]));
  return {
    name: row.name,
    ref: row.ref,
    body: row.body,
    cron: row.cron,
    duration_minutes: row.durationMinutes,
    time_zone: row.timeZone,
    every_days: row.everyDays,
    starts_on: row.startsOn,
    ends_on: row.endsOn,
    remind_minutes_before: row.remindMinutesBefore,
    enabled: row.enabled,
    components: components.map(({ id }) => refs.get(id) ?? id).sort(),
  };
}
