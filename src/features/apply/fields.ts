import type { ComponentInput, ComponentRow, GroupInput, GroupRow } from "../components";
import type { PageInput, PageRow } from "../pages";
import type { FilePage } from "./model";

/*
 * What the file wants of an object and what the database has of it, field by field in the file's own
 * names, so that the two can be compared. What the file leaves out has its default.
 */

/** A page's fields as the file wants them, defaults filled in. It cannot cease to be the default. */
export function wantedPage(page: FilePage, known: PageRow): PageInput {
  return {
    slug: page.slug,
    name: page.name,
    ref: page.ref ?? known.ref,
    description: page.description ?? null,
    time_zone: page.time_zone ?? "UTC",
    locale: page.locale ?? "en",
    visibility: page.visibility ?? "public",
    theme: page.theme ?? "system",
    accent: page.accent ?? null,
    history_days: page.history_days ?? 90,
    default: known.isDefault || (page.default ?? false),
  };
}

export function presentPageFields(row: PageRow): PageInput {
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
    default: row.isDefault,
  };
}

export function wantedGroup(input: GroupInput, ref: string): GroupInput {
  const { name, description = null, collapse = "expanded" } = input;
  return { name, ref, description, collapse };
}

export function presentGroupFields(row: GroupRow): GroupInput & { position: number } {
  const { name, ref, description, collapse, position } = row;
  return { name, ref, description, collapse, position };
}

export function wantedComponent(input: ComponentInput, ref: string): ComponentInput {
  return {
    name: input.name,
    ref,
    description: input.description ?? null,
    showcase: input.showcase ?? true,
    start_date: input.start_date ?? null,
    only_show_if_degraded: input.only_show_if_degraded ?? false,
  };
}

export function presentComponentFields(
  row: ComponentRow,
): ComponentInput & { position: number; groupId: string | null } {
  return {
    name: row.name,
    ref: row.ref,
    description: row.description,
    showcase: row.showcase,
    start_date: row.startDate,
    only_show_if_degraded: row.onlyShowIfDegraded,
    position: row.position,
    groupId: row.groupId,
  };
}
