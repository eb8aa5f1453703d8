import { type Static, Type } from "@sinclair/typebox";
import { NameText, LineText } from "../../domain/texts";
import { InstantText, Nullable, Text } from "../../kernel/schema";
import { NAMED_COMPONENTS_MAX, Notify, UPDATES_MAX, UpdateText } from "../timeline/updates";
import { Status } from "../components/model";
import { ImpactText, IncidentStatusText } from "./model";

/* Bodies of requests. */

const ExternalRef = LineText({
  minLength: 1,
  maxLength: 255,
  description: "Identifier in the caller's own system. Unique on its page.",
});
/** Maximum length of a post-mortem, in code points. */
export const POSTMORTEM_MAX = 50_000;
const PostmortemText = Text({ minLength: 1, maxLength: POSTMORTEM_MAX, description: "Markdown." });
const NamedComponents = Type.Record(Type.String(), Status, {
  maxProperties: NAMED_COMPONENTS_MAX,
  description:
    "Statuses of components of the page. The keys are ids, or page slug and `ref`, such as `acme:checkout-api`.",
  examples: [{ cmp_01kah2v9w0e0rs6x0h3ye0a1bc: "partial_outage" }],
});

export const CreateIncidentBody = Type.Object(
  {
    page: Text({ minLength: 1, maxLength: 100, description: "A page's slug or id." }),
    name: NameText,
    body: UpdateText,
    status: Type.Optional(IncidentStatusText),
    impact_override: Type.Optional(Nullable(ImpactText)),
    components: Type.Optional(NamedComponents),
    started_at: Type.Optional(
      InstantText({
        description:
          "Default: now, or `resolved_at` if that is earlier. The statuses of components apply from then on.",
      }),
    ),
    resolved_at: Type.Optional(
      InstantText({ description: "End of a past incident, whose status is then resolved." }),
    ),
    external_ref: Type.Optional(Nullable(ExternalRef)),
    draft: Type.Optional(
      Type.Boolean({
        description:
          "A draft changes no component statuses and sends no notifications until it is published.",
      }),
    ),
    notify: Type.Optional(Notify),
  },
  {
    additionalProperties: false,
    examples: [
      {
        page: "acme",
        name: "Elevated error rates",
        body: "We are looking into it.",
        components: { cmp_01kah2v9w0e0rs6x0h3ye0a1bc: "partial_outage" },
      },
    ],
  },
);
export type CreateIncidentBody = Static<typeof CreateIncidentBody>;

export const UpdateIncidentBody = Type.Object(
  {
    name: Type.Optional(NameText),
    impact_override: Type.Optional(Nullable(ImpactText)),
    external_ref: Type.Optional(Nullable(ExternalRef)),
    started_at: Type.Optional(InstantText()),
    identified_at: Type.Optional(Nullable(InstantText())),
    monitoring_at: Type.Optional(Nullable(InstantText())),
    resolved_at: Type.Optional(InstantText({ description: "Only for a resolved incident." })),
    draft: Type.Optional(Type.Literal(false, { description: "Publishes a draft." })),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    examples: [{ started_at: "2026-01-01T11:45:00Z" }],
  },
);
export type UpdateIncidentBody = Static<typeof UpdateIncidentBody>;

export const AddUpdateBody = Type.Object(
  {
    body: UpdateText,
    status: Type.Optional(IncidentStatusText),
    components: Type.Optional(NamedComponents),
    display_at: Type.Optional(
      InstantText({ description: "Time at which it takes effect. Default: now." }),
    ),
    notify: Type.Optional(Notify),
  },
  {
    additionalProperties: false,
    examples: [{ status: "resolved", body: "A bad deployment was rolled back." }],
  },
);
export type AddUpdateBody = Static<typeof AddUpdateBody>;

export const EditUpdateBody = Type.Object(
  { body: Type.Optional(UpdateText), display_at: Type.Optional(InstantText()) },
  { additionalProperties: false, minProperties: 1, examples: [{ body: "The database was full." }] },
);
export type EditUpdateBody = Static<typeof EditUpdateBody>;

/** A whole incident of another product. */
export const ImportIncidentBody = Type.Object(
  {
    name: NameText,
    impact_override: Nullable(ImpactText),
    external_ref: ExternalRef,
    started_at: InstantText(),
    updates: Type.Array(
      Type.Object({
        status: IncidentStatusText,
        body: UpdateText,
        display_at: InstantText(),
        components: NamedComponents,
      }),
      { minItems: 1, maxItems: UPDATES_MAX },
    ),
    postmortem: Nullable(Type.Object({ body: PostmortemText, published_at: InstantText() })),
  },
  { additionalProperties: false },
);
export type ImportIncidentBody = Static<typeof ImportIncidentBody>;

export const PutPostmortemBody = Type.Object(
  {
    body: PostmortemText,
    publish: Type.Optional(
      Type.Boolean({
        description: "True publishes it, false withdraws it. By default nothing changes.",
      }),
    ),
    notify: Type.Optional(Notify),
  },
  {
    additionalProperties: false,
    examples: [{ body: "## What happened\n\nA disk was full.", publish: true }],
  },
);
export type PutPostmortemBody = Static<typeof PutPostmortemBody>;
