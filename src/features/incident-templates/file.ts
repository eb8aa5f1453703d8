/* Incident templates in the configuration file: their schema, `applyTemplates` and `exportTemplates`. */
import { type Static, Type } from "@sinclair/typebox";
import { invalidFields, pointer } from "../../base/errors";
import { Nullable, Text } from "../../base/schema";
import { RefText } from "../../base/texts";
import type { NamedStatus } from "../../base/status";
import { validate } from "../../base/validation";
import type { Reader } from "../../db/statements";
import {
  type ApplyRun,
  componentOrder,
  type ComponentsOf,
  createComponentsOf,
  type Entry,
  nonDefault,
  pageOfEntry,
  PreviousRefs,
  RowsByRef,
} from "../apply/run";
import type { ComponentRow } from "../components/store";
import { findPage, type PageRow } from "../pages/store";
import type { TemplateRecord, TemplateRow } from "./store";
import { createTemplate, deleteTemplate, listAllTemplates, updateTemplate } from "./templates";
import { TemplateFields, TemplateInput } from "./wire";

/** An incident template in a file. Its components are refs of components of its page. */
export const FileTemplate = Type.Object(
  {
    ...TemplateFields,
    ref: Type.Optional(RefText),
    previous_refs: PreviousRefs,
    page: Type.Optional(Nullable(Text({ minLength: 1, maxLength: 63 }))),
  },
  { additionalProperties: false },
);
export type FileTemplate = Static<typeof FileTemplate>;

type TemplateWithRef = TemplateRecord & { ref: string };
type TemplateEntry = Entry<FileTemplate, TemplateWithRef>;

/** Applies incident templates, after the pages and their components. */
export function applyTemplates(run: ApplyRun, templates: readonly FileTemplate[]): void {
  const { ctx, tx, options } = run;
  const stored = listAllTemplates(tx).map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<TemplateWithRef>(stored);
  const entries = templates.map((item, index) => rows.match(item, ["incident_templates", index]));
  // First, so that entries can take the refs of deleted ones.
  run.handleLeftovers("incident template", stored, entries, (id) =>
    deleteTemplate(ctx, tx, id, options.actor),
  );
  const componentsOf = createComponentsOf(tx);
  for (const entry of entries) applyTemplate(run, entry, componentsOf);
}

function applyTemplate(run: ApplyRun, entry: TemplateEntry, componentsOf: ComponentsOf): void {
  const { ctx, tx, options } = run;
  const { item, ref, path, row: stored } = entry;
  const page = run.locatingErrors(path, () => pageOfTemplate(run, item));
  const pageComponents = page ? componentsOf(page.id) : [];
  const ids = run.locatingErrors(path, () => componentIdsOfTemplate(item, page, pageComponents));
  const desired = desiredTemplate(item, ref);
  const { ref: _ref, ...fields } = desired;
  const input = { ...fields, page: page?.id ?? null, components: ids };
  run.apply<TemplateRow, Record<string, unknown>>({
    noun: "incident template",
    label: stored?.ref ?? ref,
    address: null,
    path,
    row: stored?.row,
    current: () => ({
      ...(stored && presentTemplateFields(stored, componentsOf)),
      page: stored && slugOf(run, stored),
    }),
    desired: { ...desired, page: page?.slug ?? null },
    create() {
      const body = validate(TemplateInput, input);
      return createTemplate(ctx, tx, body, options.actor, { ref, managedBy: "apply" }).row;
    },
    update(row) {
      const body = validate(TemplateInput, input);
      return updateTemplate(ctx, tx, row.id, body, options.actor, { ref }).row;
    },
  });
}

/** Returns the slug of a template's page; its id if this transaction deleted the page. */
function slugOf({ tx }: ApplyRun, { row: { pageId } }: TemplateRecord): string | null {
  return pageId === null ? null : (findPage(tx, { id: pageId })?.slug ?? pageId);
}

/** Returns the page of a template, also by an earlier slug; null for all pages. */
function pageOfTemplate({ tx }: ApplyRun, { page: slug }: FileTemplate): PageRow | null {
  return slug === undefined || slug === null ? null : pageOfEntry(tx, slug);
}

/** Returns the statuses of a template by component id. Throws for a ref that the page does not have. */
function componentIdsOfTemplate(
  { components = {} }: FileTemplate,
  page: PageRow | null,
  pageComponents: readonly ComponentRow[],
): Record<string, NamedStatus> {
  const names = Object.keys(components);
  if (!page && names.length > 0) {
    const detail = "must be empty in a template for all pages: name a page, or leave them out";
    throw invalidFields([{ pointer: pointer("components"), detail }]);
  }
  const ids = new Map(pageComponents.map(({ ref, id }) => [ref, id]));
  const unknown = names.filter((ref) => !ids.has(ref));
  if (unknown.length > 0) {
    throw invalidFields(
      unknown.map((ref) => ({
        pointer: pointer("components", ref),
        detail: `is not the ref of a component of the page ${page?.slug}`,
      })),
    );
  }
  return Object.fromEntries(
    Object.entries(components).map(([ref, status]) => [ids.get(ref) ?? ref, status]),
  );
}

/**
 * Returns the incident templates of these pages for the file, oldest first, and with `every` those
 * for all pages.
 */
export function exportTemplates(
  reader: Reader,
  pages: readonly PageRow[],
  { every }: { every: boolean },
): FileTemplate[] {
  const slugs = new Map(pages.map(({ id, slug }) => [id, slug]));
  const componentsOf = createComponentsOf(reader);
  const { compare } = componentOrder(reader, pages);
  return listAllTemplates(reader).flatMap(({ components, ...rest }) => {
    const sorted = [...components].toSorted(([a], [b]) => compare(a, b));
    const record = { ...rest, components: new Map(sorted) };
    const { pageId } = record.row;
    const slug = pageId === null ? null : slugs.get(pageId);
    if (slug === undefined || (slug === null && !every)) return [];
    const fields = presentTemplateFields(record, componentsOf);
    const { name, ref, title, body } = fields;
    const least = desiredTemplate({ name, title, body }, ref);
    return [
      {
        name,
        ref,
        ...(slug !== null && { page: slug }),
        title,
        body,
        ...nonDefault(fields, least),
      },
    ];
  });
}

/** Fields of an incident template without its page. Components are given by ref. */
type FileTemplateFields = Required<Omit<FileTemplate, "page" | "previous_refs">>;

function desiredTemplate(template: FileTemplate, ref: string): FileTemplateFields {
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
function presentTemplateFields(
  { row, components }: TemplateRecord,
  componentsOf: (pageId: string) => readonly Pick<ComponentRow, "id" | "ref">[],
): FileTemplateFields {
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
