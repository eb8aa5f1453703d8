import type { Reader } from "../../db/statements";
import { invalidFields, pointer } from "../../base/errors";
import { createSchedule, deleteSchedule, updateSchedule } from "../maintenance/schedules/schedules";
import { listSchedules, type ScheduleRecord } from "../maintenance/schedules/records";
import type { ScheduleRow } from "../maintenance/schedules/store";
import { findPage, findPageBySlug, type PageRow } from "../pages/store";
import { type ComponentsOf, createComponentsOf } from "./component-refs";
import { nonDefault } from "./difference";
import { type Entry, RowsByRef } from "./entries";
import { desiredSchedule, presentScheduleFields } from "./fields";
import type { FileSchedule } from "./model";
import type { ApplyRun } from "./run";

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
  const page = run.locatingErrors(path, () => pageOf(run, item));
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
    create: () => createSchedule(ctx, tx, input, options.actor, { ref, managedBy: "apply" }).row,
    update: (row) => updateSchedule(ctx, tx, row.id, input, options.actor, { ref }).row,
  });
}

/** Returns the page of a schedule, also by an earlier slug. */
function pageOf({ tx }: ApplyRun, { page: slug }: FileSchedule): PageRow {
  const page = findPageBySlug(tx, { slug });
  if (page) return page;
  throw invalidFields([{ pointer: pointer("page"), detail: `is not the slug of a page: ${slug}` }]);
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
