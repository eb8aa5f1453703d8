/*
 * Desired and current fields of objects by the names in the file, for comparison. Fields that a
 * file leaves out have their defaults. `Required` makes the compiler report a new field that is
 * missing here.
 */

import type { ComponentRow, GroupRow } from "../components/store";
import type { ComponentInput, GroupInput } from "../components/wire";
import { REMIND_MINUTES_BEFORE } from "../maintenance/plan";
import type { ScheduleRecord } from "../maintenance/schedules/records";
import { fullMailSettings, mailSettingsOf } from "../pages/mail";
import { toDomain } from "../pages/references";
import { compatOf, JOIN_MINUTES } from "../pages/rules";
import type { PageRow } from "../pages/store";
import type { PageInput } from "../pages/wire";
import { type Entry, type Path, RowsByRef } from "./run";
import type { FileComponent, FileGroup, FilePage, FileSchedule } from "./schema";

/**
 * Returns the desired fields of a page. `stored` is the current page, which cannot stop being the
 * default.
 */
export function desiredPage(
  page: PageInput,
  stored: Pick<PageRow, "ref" | "isDefault">,
): Required<PageInput> {
  return {
    slug: page.slug,
    name: page.name,
    ref: page.ref ?? stored.ref,
    description: page.description ?? null,
    time_zone: page.time_zone ?? "UTC",
    locale: page.locale ?? "en",
    visibility: page.visibility ?? "public",
    theme: page.theme ?? "system",
    accent: page.accent ?? null,
    history_days: page.history_days ?? 90,
    join_minutes: page.join_minutes ?? JOIN_MINUTES,
    // In the form that is stored.
    custom_domains: (page.custom_domains ?? []).map((text) => toDomain(text) ?? text),
    default: stored.isDefault || (page.default ?? false),
    compat: compatOf(page.compat ?? []),
    mail: fullMailSettings(page.mail),
  };
}

export function presentPageFields(row: PageRow): Required<PageInput> {
  return {
    slug: row.slug,
    name: row.name,
    ref: row.ref,
    description: row.description,
    time_zone: row.timeZone,
    locale: row.locale,
    visibility: row.visibility,
    theme: row.theme,
    accent: row.accent,
    history_days: row.historyDays,
    join_minutes: row.joinMinutes,
    custom_domains: row.customDomains,
    default: row.isDefault,
    compat: row.compat,
    mail: mailSettingsOf(row),
  };
}

export function desiredGroup(group: GroupInput, ref: string): Required<GroupInput> {
  const { name, description = null, collapse = "expanded" } = group;
  return { name, ref, description, collapse };
}

export function presentGroupFields(row: GroupRow): Required<GroupInput> {
  const { name, ref, description, collapse } = row;
  return { name, ref, description, collapse };
}

export function desiredComponent(component: ComponentInput, ref: string): Required<ComponentInput> {
  return {
    name: component.name,
    ref,
    description: component.description ?? null,
    showcase: component.showcase ?? true,
    start_date: component.start_date ?? null,
    only_show_if_degraded: component.only_show_if_degraded ?? false,
    show_latency: component.show_latency ?? false,
    tags: component.tags ?? [],
  };
}

export function presentComponentFields(row: ComponentRow): Required<ComponentInput> {
  return {
    name: row.name,
    ref: row.ref,
    description: row.description,
    showcase: row.showcase,
    start_date: row.startDate,
    only_show_if_degraded: row.onlyShowIfDegraded,
    show_latency: row.showLatency,
    tags: row.tags,
  };
}

/** Fields of a maintenance schedule without its page. Components are given by ref, in any order. */
type ScheduleFields = Required<Omit<FileSchedule, "page" | "previous_refs">>;

/** `timeZone` is that of the page, which is the default. */
export function desiredSchedule(
  schedule: Omit<FileSchedule, "page">,
  ref: string,
  timeZone: string,
): ScheduleFields {
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
export function presentScheduleFields(
  { row, components }: ScheduleRecord,
  componentsOf: (pageId: string) => readonly Pick<ComponentRow, "id" | "ref">[],
): ScheduleFields {
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

export type ComponentEntry = Entry<FileComponent, ComponentRow>;

export interface GroupEntry extends Entry<FileGroup, GroupRow> {
  components: ComponentEntry[];
}

/** Objects of a page, in the file's order. */
export interface PageEntries {
  /** Components without a group. */
  ungrouped: ComponentEntry[];
  groups: GroupEntry[];
}

/** Finds the row of each group and component of a page in the file, by refs. */
export function matchEntries(
  desired: FilePage,
  path: Path,
  current: { groups: readonly GroupRow[]; components: readonly ComponentRow[] },
): PageEntries {
  const groups = new RowsByRef(current.groups);
  const components = new RowsByRef(current.components);
  const entriesOf = (items: readonly FileComponent[] | undefined, at: Path) =>
    (items ?? []).map((item, index) => components.match(item, [...at, "components", index]));
  return {
    ungrouped: entriesOf(desired.components, path),
    groups: (desired.groups ?? []).map((item, index) => {
      const at = [...path, "groups", index];
      return { ...groups.match(item, at), components: entriesOf(item.components, at) };
    }),
  };
}

/**
 * Returns the position of each entry. If the rows of all lists are in the order of the file,
 * positions stay; else the whole page is numbered from 0.
 */
export function positionsOf(page: PageEntries): Map<GroupEntry | ComponentEntry, number> {
  const components = [page.ungrouped, ...page.groups.map((group) => group.components)].flat();
  const keepsAll = isInOrder(page);
  return new Map(
    [page.groups, components].flatMap((list) =>
      list.map((entry, index) => {
        const kept = keepsAll ? entry.row?.position : undefined;
        return [entry, kept ?? index] as const;
      }),
    ),
  );
}

function isInOrder({ ungrouped, groups }: PageEntries): boolean {
  return (
    isAscending(groups) &&
    isAscending(ungrouped) &&
    ungrouped.every(({ row }) => row?.groupId === null) &&
    groups.every(
      (group) =>
        isAscending(group.components) &&
        group.components.every(({ row }) => row?.groupId === group.row?.id),
    )
  );
}

/** Returns true if all rows exist and are in the order of lists: by position, then by id. */
function isAscending(
  entries: readonly { row: { id: string; position: number } | undefined }[],
): boolean {
  return entries.every(({ row }, index) => {
    if (!row) return false;
    const before = entries[index - 1]?.row;
    if (!before) return index === 0;
    const gap = row.position - before.position;
    return gap > 0 || (gap === 0 && row.id > before.id);
  });
}
