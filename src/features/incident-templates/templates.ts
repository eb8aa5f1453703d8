import type { Actor } from "../../base/actor";
import { conflict, notFound } from "../../base/errors";
import { type ApplyMetadata, freeRef, NEWEST } from "../../base/ids";
import type { NamedStatus } from "../../base/status";
import { toRef } from "../../base/text";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { resolveNamedComponents } from "../components/references";
import { findNamedPage } from "../pages/pages";
import { findPage } from "../pages/store";
import {
  countTemplates,
  deleteTemplateComponents,
  deleteTemplateRow,
  findTemplate,
  findTemplateByRef,
  insertTemplate,
  insertTemplateComponents,
  listAllTemplateRows,
  listComponentsOfTemplates,
  listStatusesOfTemplates,
  listTemplateBeginnings,
  listTemplateRowsBefore,
  type TemplateRecord,
  type TemplateRow,
  updateTemplateRow,
} from "./store";
import type { PartialTemplateInput, TemplateInput } from "./wire";

/** Maximum number of templates of one page, and of those for all pages. */
const TEMPLATES_PER_PAGE_MAX = 100;

/** Maximum number of templates of an installation. */
const TEMPLATES_MAX = 500;

/** Columns of a template that callers set, and the statuses of its components by id. */
type DesiredTemplate = Pick<
  TemplateRow,
  "ref" | "pageId" | "name" | "title" | "body" | "status" | "impactOverride"
> & { components: ReadonlyMap<string, NamedStatus> };

/**
 * Creates a template. A ref made from the name is numbered if it is taken. Throws
 * `validation_failed` that names every invalid field, or `conflict` for a given ref that is taken
 * and for a page or an installation that has no room for another one.
 */
export function createTemplate(
  ctx: Ctx,
  tx: Tx,
  input: Valid<TemplateInput>,
  actor: Actor,
  metadata: ApplyMetadata = {},
): TemplateRecord {
  const errors = new FieldErrors();
  const { components, ...columns } = readTemplate(tx, errors, input);
  errors.throwIfAny();
  const holderOf = (ref: string) => findTemplateByRef(tx, { ref });
  const ref = metadata.ref ?? freeRef(toRef(input.name) || "template", holderOf);
  requireFreeRef(tx, ref);
  requireRoom(tx, columns.pageId, true);
  const now = ctx.clock.now();
  const row: TemplateRow = {
    id: ctx.newId("tpl"),
    ref,
    ...columns,
    managedBy: metadata.managedBy ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  insertTemplate(tx, row);
  writeComponents(tx, row.id, components);
  audit(ctx, tx, actor, "incident_template.create", row.id, `Created ${nameInWords(row)}`);
  return getTemplate(tx, row.id);
}

/**
 * Changes a template. Fields that the input leaves out stay, but another page starts without
 * components. A change to the current values changes nothing. `metadata` may give it another ref.
 * Throws as `createTemplate`, and `not_found`.
 */
export function updateTemplate(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<PartialTemplateInput>,
  actor: Actor,
  metadata: Pick<ApplyMetadata, "ref"> = {},
): TemplateRecord {
  const record = getTemplate(tx, id);
  const { row: before } = record;
  const complete = {
    ...input,
    name: input.name ?? before.name,
    title: input.title ?? before.title,
    body: input.body ?? before.body,
  };
  const errors = new FieldErrors();
  const fields = readTemplate(tx, errors, complete, record);
  errors.throwIfAny();
  const desired: DesiredTemplate = { ref: metadata.ref ?? before.ref, ...fields };
  const changed = changedFields(record, desired);
  if (changed.length === 0) return record;
  if (desired.ref !== before.ref) requireFreeRef(tx, desired.ref);
  if (desired.pageId !== before.pageId) requireRoom(tx, desired.pageId, false);
  const { components, ...columns } = desired;
  updateTemplateRow(tx, { ...changedRow(ctx, before), ...columns });
  deleteTemplateComponents(tx, { templateId: id });
  writeComponents(tx, id, components);
  const summary = `Changed ${nameInWords(before)}: ${changed.join(", ")}`;
  audit(ctx, tx, actor, "incident_template.update", id, summary);
  return getTemplate(tx, id);
}

/** Deletes a template for good; its ref is free. Throws `not_found`. */
export function deleteTemplate(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const { row } = getTemplate(tx, id);
  deleteTemplateRow(tx, { id });
  audit(ctx, tx, actor, "incident_template.delete", id, `Deleted ${nameInWords(row)}`);
}

/** Names of changed fields for the audit log. */
const WORDS: Readonly<Record<keyof DesiredTemplate, string>> = {
  ref: "ref",
  pageId: "page",
  name: "name",
  title: "title",
  body: "message",
  status: "status",
  impactOverride: "impact",
  components: "components",
};

function changedFields({ row, components }: TemplateRecord, desired: DesiredTemplate): string[] {
  const before: DesiredTemplate = { ...row, components };
  const plain = (value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value);
  return (Object.keys(WORDS) as (keyof DesiredTemplate)[])
    .filter((field) => !Bun.deepEquals(plain(before[field]), plain(desired[field])))
    .map((field) => WORDS[field]);
}

/**
 * Reads the columns and components of a template. Fields that the input leaves out are those of `before`, but another
 * page starts without components. Adds the errors of the page and of the components.
 */
function readTemplate(
  reader: Reader,
  errors: FieldErrors,
  input: TemplateInput,
  before?: TemplateRecord,
): Omit<DesiredTemplate, "ref"> {
  const current = before?.row;
  const pageId =
    input.page === undefined ? (current?.pageId ?? null) : readPageId(reader, errors, input.page);
  const kept = pageId === current?.pageId ? Object.fromEntries(before?.components ?? []) : {};
  return {
    pageId: pageId ?? null,
    name: input.name,
    title: input.title,
    body: input.body,
    status: input.status ?? current?.status ?? "investigating",
    impactOverride:
      input.impact_override === undefined
        ? (current?.impactOverride ?? null)
        : input.impact_override,
    components: readComponents(reader, errors, pageId, input.components ?? kept),
  };
}

/**
 * Returns the id of the page that an input names; null for all pages, undefined for an error, which
 * is added for an unknown page and for the sample page.
 */
function readPageId(
  reader: Reader,
  errors: FieldErrors,
  slugOrId: string | null,
): string | null | undefined {
  if (slugOrId === null) return null;
  const page = findNamedPage(reader, errors, slugOrId);
  // Its templates would be deleted with it, unnoticed.
  if (page?.isSample) {
    errors.add(["page"], "is the sample page, which is removed when you create your first page");
  }
  return page?.id;
}

/**
 * Returns component statuses by id. Adds an error for each unknown component and each of another
 * page; a template for all pages names none.
 */
function readComponents(
  reader: Reader,
  errors: FieldErrors,
  pageId: string | null | undefined,
  statuses: Readonly<Record<string, NamedStatus>>,
): Map<string, NamedStatus> {
  if (pageId === null) {
    if (Object.keys(statuses).length > 0) {
      errors.add(["components"], "must be empty in a template for all pages");
    }
    return new Map();
  }
  const resolved = resolveNamedComponents(reader, errors, pageId, statuses);
  return new Map(
    resolved.flatMap(({ id, reference }) => {
      const status = statuses[reference];
      return status === undefined ? [] : [[id, status] as const];
    }),
  );
}

function writeComponents(
  tx: Tx,
  templateId: string,
  components: ReadonlyMap<string, NamedStatus>,
): void {
  if (components.size === 0) return;
  insertTemplateComponents(
    tx,
    [...components].map(([componentId, status]) => ({ templateId, componentId, status })),
  );
}

/** Throws `conflict` if another template has the ref. */
function requireFreeRef(reader: Reader, ref: string): void {
  const holder = findTemplateByRef(reader, { ref });
  if (holder) throw conflict(`The ref ${ref} is taken by the incident template “${holder.name}”.`);
}

/** Throws `conflict` if a page, or the installation for a new template, has no room for one more. */
function requireRoom(reader: Reader, pageId: string | null, isNew: boolean): void {
  const { all, ofPage } = countTemplates(reader, { pageId }) ?? { all: 0, ofPage: 0 };
  if (isNew && all >= TEMPLATES_MAX) {
    throw conflict(
      `There are ${TEMPLATES_MAX} incident templates, the most that there can be. Delete one first.`,
    );
  }
  if (ofPage < TEMPLATES_PER_PAGE_MAX) return;
  const page = pageId === null ? undefined : findPage(reader, { id: pageId });
  const owner = page ? `“${page.name}” has` : "There are";
  const scope = page ? "a page can have" : "there can be";
  const which = page ? "" : " for all pages";
  throw conflict(
    `${owner} ${TEMPLATES_PER_PAGE_MAX} incident templates${which}, the most that ${scope}. Delete one first.`,
  );
}

function nameInWords({ name }: Pick<TemplateRow, "name">): string {
  return `the incident template “${name}”`;
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
