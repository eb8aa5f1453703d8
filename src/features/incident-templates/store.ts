import { and, asc, desc, eq, isNull, lt, sql } from "drizzle-orm";
import type { NamedStatus } from "../../base/status";
import { deleteBy, findBy, listBy } from "../../db/rows";
import {
  insertAllInto,
  insertInto,
  isAmong,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import { components } from "../../db/tables/components";
import { incidentTemplateComponents, incidentTemplates } from "../../db/tables/incidents";
import { pages } from "../../db/tables/pages";

export type TemplateRow = typeof incidentTemplates.$inferSelect;

export const insertTemplate = insertInto(incidentTemplates);
export const updateTemplateRow = updateById(incidentTemplates);
export const insertTemplateComponents = insertAllInto(incidentTemplateComponents);

/** Deletes the row of a template, with the statuses of its components. */
export const deleteTemplateRow = deleteBy(incidentTemplates, ["id"]);
export const deleteTemplateComponents = deleteBy(incidentTemplateComponents, ["templateId"]);
export const findTemplate = findBy(incidentTemplates, ["id"]);
export const findTemplateByRef = findBy(incidentTemplates, ["ref"]);

const withSlug = { row: incidentTemplates, pageSlug: pages.slug };

/**
 * Lists templates with ids below `before`, newest first, with the slugs of their pages. `pageId`
 * selects those of a page and those for all pages; null selects every template.
 */
export const listTemplateRowsBefore = selectMany(
  (orm, $: { pageId: string | null; before: string; limit: number }) =>
    orm
      .select(withSlug)
      .from(incidentTemplates)
      .leftJoin(pages, eq(pages.id, incidentTemplates.pageId))
      .where(
        and(
          lt(incidentTemplates.id, $.before),
          sql`(${$.pageId} IS NULL OR ${incidentTemplates.pageId} IS NULL OR ${incidentTemplates.pageId} = ${$.pageId})`,
        ),
      )
      .orderBy(desc(incidentTemplates.id))
      .limit($.limit),
);

/** Condition: a template is of a page or for all pages. */
const isOffered = ($: { pageId: string }) =>
  sql`(${incidentTemplates.pageId} IS NULL OR ${incidentTemplates.pageId} = ${$.pageId})`;

/**
 * Returns the length of all texts of the templates that a page offers, in code points, and the number of
 * components that they name.
 */
export const measureTemplates = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({
      length: sql<number>`coalesce(sum(length(${incidentTemplates.title}) + length(${incidentTemplates.body})), 0)`,
      components: sql<number>`(SELECT count(DISTINCT component_id) FROM incident_template_components
        WHERE template_id IN (SELECT id FROM incident_templates WHERE page_id = ${$.pageId}))`,
    })
    .from(incidentTemplates)
    .where(isOffered($)),
);

/** Lists the templates that a page offers with the beginnings of their messages, in no order. */
export const listTemplateBeginnings = selectMany((orm, $: { pageId: string; length: number }) =>
  orm
    .select({
      id: incidentTemplates.id,
      pageId: incidentTemplates.pageId,
      name: incidentTemplates.name,
      beginning: sql<string>`substr(${incidentTemplates.body}, 1, ${$.length})`,
    })
    .from(incidentTemplates)
    .where(isOffered($)),
);

/** Lists all templates, oldest first, with the slugs of their pages. */
export const listAllTemplateRows = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select(withSlug)
    .from(incidentTemplates)
    .leftJoin(pages, eq(pages.id, incidentTemplates.pageId))
    .orderBy(asc(incidentTemplates.id)),
);

/** Lists all templates without their texts, in no order, with the number of components that they name. */
export const listTemplateSummaries = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({
      id: incidentTemplates.id,
      pageId: incidentTemplates.pageId,
      name: incidentTemplates.name,
      title: incidentTemplates.title,
      status: incidentTemplates.status,
      managedBy: incidentTemplates.managedBy,
      components: sql<number>`(SELECT count(*) FROM incident_template_components AS n
        JOIN components AS c ON c.id = n.component_id AND c.deleted_at IS NULL
        WHERE n.template_id = ${incidentTemplates.id})`,
    })
    .from(incidentTemplates),
);

/** Lists the templates of a page, oldest first, without those for all pages. */
export const listTemplatesOfPage = listBy(incidentTemplates, ["pageId"], {
  order: [asc(incidentTemplates.id)],
});

/** Counts the templates of a page, or of no page for null, and all templates. */
export const countTemplates = selectOne((orm, $: { pageId: string | null }) =>
  orm
    .select({
      all: sql<number>`count(*)`,
      ofPage: sql<number>`coalesce(sum(${incidentTemplates.pageId} IS ${$.pageId}), 0)`,
    })
    .from(incidentTemplates),
);

/**
 * Lists the component statuses of templates (`templateIds`: a JSON list) as the statement below does, but in
 * no order and with deleted components, which is several times faster.
 */
export const listStatusesOfTemplates = selectMany((orm, $: { templateIds: string }) =>
  orm
    .select({
      templateId: incidentTemplateComponents.templateId,
      statuses: sql<string>`json_group_object(${incidentTemplateComponents.componentId}, ${incidentTemplateComponents.status})`,
    })
    .from(incidentTemplateComponents)
    .where(isAmong(incidentTemplateComponents.templateId, $.templateIds))
    .groupBy(incidentTemplateComponents.templateId),
);

/**
 * Lists the component statuses of templates (`templateIds`: a JSON list), each as a JSON object by
 * component id in the order of the page. Deleted components are left out. One row per template is
 * several times faster to read than one per component.
 */
export const listComponentsOfTemplates = selectMany((orm, $: { templateIds: string }) =>
  orm
    .select({
      templateId: incidentTemplateComponents.templateId,
      statuses: sql<string>`json_group_object(${incidentTemplateComponents.componentId}, ${incidentTemplateComponents.status} ORDER BY ${components.position}, ${components.id})`,
    })
    .from(incidentTemplateComponents)
    .innerJoin(components, eq(components.id, incidentTemplateComponents.componentId))
    .where(
      and(
        isAmong(incidentTemplateComponents.templateId, $.templateIds),
        isNull(components.deletedAt),
      ),
    )
    .groupBy(incidentTemplateComponents.templateId),
);

/** A template with the slug of its page and its component statuses. */
export interface TemplateRecord {
  row: TemplateRow;
  /** Slug of the page; null for all pages. */
  pageSlug: string | null;
  /** Statuses by component id, in the order of the page, without deleted components. */
  components: ReadonlyMap<string, NamedStatus>;
}
