import type { Reader } from "../../db/statements";
import type { NamedStatus } from "../../domain/component-status";
import { NEWEST } from "../../domain/ids";
import { notFound } from "../../errors/problem";
import { findPage } from "../pages/store";
import {
  findTemplate,
  listAllTemplateRows,
  listComponentsOfTemplates,
  listStatusesOfTemplates,
  listTemplateBeginnings,
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

/**
 * Lists the templates that a page offers by name: its own ones, then those for all pages. Their components
 * are in no order, and include deleted ones.
 */
export function listTemplatesForPage(reader: Reader, pageId: string): TemplateRecord[] {
  const limit = Number.MAX_SAFE_INTEGER;
  const rows = listTemplateRowsBefore(reader, { pageId, before: NEWEST, limit });
  return withComponents(reader, rows, listStatusesOfTemplates).toSorted((a, b) =>
    byOffer(a.row, b.row),
  );
}

/**
 * Lists the templates that a page offers in the same order, each with only the first `length` code
 * points of its message. Reading all texts and components takes up to ten times as long.
 */
export function listTemplatesInShort(
  reader: Reader,
  query: { pageId: string; length: number },
): ReturnType<typeof listTemplateBeginnings> {
  return listTemplateBeginnings(reader, query).toSorted(byOffer);
}

type Offered = Pick<TemplateRow, "id" | "pageId" | "name">;

/** Order in which a page offers templates. */
function byOffer(a: Offered, b: Offered): number {
  return (
    Number(a.pageId === null) - Number(b.pageId === null) ||
    a.name.localeCompare(b.name, "en") ||
    (a.id < b.id ? -1 : 1)
  );
}

/** Lists all templates, oldest first. */
export function listAllTemplates(reader: Reader): TemplateRecord[] {
  return withComponents(reader, listAllTemplateRows(reader, {}));
}

function withComponents(
  reader: Reader,
  rows: readonly Pick<TemplateRecord, "row" | "pageSlug">[],
  listStatuses = listComponentsOfTemplates,
): TemplateRecord[] {
  if (rows.length === 0) return [];
  const templateIds = JSON.stringify(rows.map(({ row }) => row.id));
  const byTemplate = new Map(
    listStatuses(reader, { templateIds }).map(({ templateId, statuses }) => [
      templateId,
      JSON.parse(statuses) as Record<string, NamedStatus>,
    ]),
  );
  return rows.map(({ row, pageSlug }) => {
    const components = new Map(Object.entries(byTemplate.get(row.id) ?? {}));
    return { row, pageSlug, components };
  });
}
