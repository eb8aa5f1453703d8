import type { ComponentInput, GroupInput } from "../components/wire";
import type { ComponentRow, GroupRow } from "../components/store";
import type { TemplateRecord } from "../incident-templates/store";
import { REMIND_MINUTES_BEFORE } from "../maintenance/plan";
import type { ScheduleRecord } from "../maintenance/schedules/records";
import { compatOf, JOIN_MINUTES } from "../pages/rules";
import { fullMailSettings, mailSettingsOf } from "../pages/mail";
import type { PageInput } from "../pages/wire";
import type { PageRow } from "../pages/store";
import { toDomain } from "../pages/references";
import type { FileSchedule, FileTemplate } from "./model";

/*
 * Desired and current fields of objects by the names in the file, for comparison. Fields that a
 * file leaves out have their defaults. `Required` makes the compiler report a new field that is
 * missing here.
 */

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

/** Fields of an incident template without its page. Components are given by ref. */
type TemplateFields = Required<Omit<FileTemplate, "page" | "previous_refs">>;

export function desiredTemplate(template: FileTemplate, ref: string): TemplateFields {
  return {
    name: template.name,
    ref,
    title: template.title,
    body: template.body,
    status: template.status ?? "investigating",
    impact_override: template.impact_override ?? null,
    components: template.components ?? {},
  };
}

/** `componentsOf` returns the components of a page by its id. */
export function presentTemplateFields(
  { row, components }: TemplateRecord,
  componentsOf: (pageId: string) => readonly Pick<ComponentRow, "id" | "ref">[],
): TemplateFields {
  const pageComponents = row.pageId === null ? [] : componentsOf(row.pageId);
  const refs = new Map(pageComponents.map(({ id, ref }) => [id, ref]));
  return {
    name: row.name,
    ref: row.ref,
    title: row.title,
    body: row.body,
    status: row.status,
    impact_override: row.impactOverride,
    components: Object.fromEntries(
      [...components].map(([id, status]) => [refs.get(id) ?? id, status]),
    ),
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
