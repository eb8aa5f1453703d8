import type { Reader } from "../../db";
import type { NamedStatus } from "../../domain/component-status";
import { NEWEST } from "../../domain/ids";
import { notFound } from "../../errors";
import { findPage } from "../pages";
import {
  findTemplate,
  listAllTemplateRows,
  listComponentsOfTemplates,
  listTemplateRowsBefore,
  type TemplateRow,
} from "./store";

/** A template with the slug of its page and its component statuses. */
export interface TemplateRecord {
  row: TemplateRow;
  /** Slug of the page; null for all pages. */
  pageSlug: string | null;
  /** Statuses by component id, in the order of the page, without deleted components. */
  components: ReadonlyMap<string, NamedStatus>;
}

/** Returns a template. Throws `not_found`. */
export function getTemplate(reader: Reader, id: string): TemplateRecord {
  const row = findTemplate(reader, { id });
  if (!row) throw notFound("incident template");
  const page = row.pageId === null ? undefined : findPage(reader, { id: row.pageId });
  const [record] = withComponents(reader, [{ row, pageSlug: page?.slug ?? null }]);
  if (!record) throw new Error("one record was given");
  return record;
}

/**
 * Lists templates with ids below `before`, newest first. `pageId` selects those of a page and those
 * for all pages; null selects every template.
 */
export function listTemplates(
  reader: Reader,
  query: { pageId: string | null; before: string; limit: number },
): TemplateRecord[] {
  return withComponents(reader, listTemplateRowsBefore(reader, query));
}

/** Lists the templates that a page offers by name: its own ones, then those for all pages. */
export function listTemplatesForPage(reader: Reader, pageId: string): TemplateRecord[] {
  const limit = Number.MAX_SAFE_INTEGER;
  return listTemplates(reader, { pageId, before: NEWEST, limit }).toSorted(
    (a, b) =>
      Number(a.row.pageId === null) - Number(b.row.pageId === null) ||
      a.row.name.localeCompare(b.row.name, "en") ||
      (a.row.id < b.row.id ? -1 : 1),
  );
}

/** Lists all templates, oldest first. */
export function listAllTemplates(reader: Reader): TemplateRecord[] {
  return withComponents(reader, listAllTemplateRows(reader, {}));
}

function withComponents(
  reader: Reader,
  rows: readonly Pick<TemplateRecord, "row" | "pageSlug">[],
): TemplateRecord[] {
  if (rows.length === 0) return [];
  const templateIds = JSON.stringify(rows.map(({ row }) => row.id));
  const byTemplate = new Map(
    listComponentsOfTemplates(reader, { templateIds }).map(({ templateId, statuses }) => [
      templateId,
      JSON.parse(statuses) as Record<string, NamedStatus>,
    ]),
  );
  return rows.map(({ row, pageSlug }) => {
    const components = new Map(Object.entries(byTemplate.get(row.id) ?? {}));
    return { row, pageSlug, components };
  });
}
