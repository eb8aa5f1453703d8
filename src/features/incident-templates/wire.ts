import { type Static, Type } from "@sinclair/typebox";
import { NAMED_STATUSES, OPEN_INCIDENT_STATUSES } from "../../base/status";
import { LineText, NameText } from "../../base/texts";
import { Instant, Nullable, OneOf, Text } from "../../base/schema";
import { toIso } from "../../base/time";
import { ImpactText } from "../incidents/wire";
import { UpdateText } from "../timeline/updates";
import type { TemplateRecord } from "./store";

/** Maximum length of the name of a template, in code points. */
export const TEMPLATE_NAME_MAX = 100;

/** Maximum number of components that one template can name. */
const COMPONENTS_MAX = 100;

const StatusText = OneOf(OPEN_INCIDENT_STATUSES, { description: "Status of the incident." });

const ComponentStatuses = Type.Record(Type.String(), OneOf(NAMED_STATUSES), {
  maxProperties: COMPONENTS_MAX,
});

/** Fields of a template without its page. Only name, title and body are required. */
export const TemplateFields = {
  name: LineText({ minLength: 1, maxLength: TEMPLATE_NAME_MAX }),
  title: NameText,
  body: UpdateText,
  status: Type.Optional(StatusText),
  impact_override: Type.Optional(Nullable(ImpactText)),
  /** Statuses by component: an id, or page slug and ref. */
  components: Type.Optional(ComponentStatuses),
};

/** Fields of a template. The page is a slug or id; null for all pages. */
export const TemplateInput = Type.Object(
  {
    page: Type.Optional(Nullable(Text({ minLength: 1, maxLength: 100 }))),
    ...TemplateFields,
  },
  { additionalProperties: false },
);
export type TemplateInput = Static<typeof TemplateInput>;

/** Fields of a template that change; fields that are left out stay. */
export const PartialTemplateInput = Type.Partial(TemplateInput, { additionalProperties: false });
export type PartialTemplateInput = Static<typeof PartialTemplateInput>;

/** A template as the API shows it. */
export const IncidentTemplate = Type.Object(
  {
    id: Type.String({ examples: ["tpl_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    ref: Type.String({ examples: ["database-down"] }),
    page: Nullable(Type.String({ description: "The page's slug; null for all pages." })),
    page_id: Nullable(Type.String()),
    name: Type.String({
      description: "Name of the template, which visitors never see.",
      examples: ["Database down"],
    }),
    title: Type.String({
      description: "Name of the incident.",
      examples: ["Orders cannot be placed"],
    }),
    body: Type.String({
      description: "First message, in Markdown.",
      examples: ["We are looking into it."],
    }),
    status: StatusText,
    impact_override: Nullable(ImpactText),
    components: Type.Record(Type.String(), OneOf(NAMED_STATUSES), {
      description: "Statuses of components of the page, by id. Empty for all pages.",
      examples: [{ cmp_01kah2v9w0e0rs6x0h3ye0a1bc: "partial_outage" }],
    }),
    version: Type.Integer({ minimum: 1 }),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: "IncidentTemplate" },
);
export type IncidentTemplate = Static<typeof IncidentTemplate>;

export function presentTemplate({ row, pageSlug, components }: TemplateRecord): IncidentTemplate {
  return {
    id: row.id,
    ref: row.ref,
    page: pageSlug,
    page_id: row.pageId,
    name: row.name,
    title: row.title,
    body: row.body,
    status: row.status,
    impact_override: row.impactOverride,
    components: Object.fromEntries(components),
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}
