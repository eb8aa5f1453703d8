import { type Static, Type } from "@sinclair/typebox";
import type { ActorKind } from "../../base/actor";
import { Day, Instant, Nullable, OneOf } from "../../base/schema";
import { CAUSE_SOURCES, COMPONENT_STATUSES } from "../../base/status";
import { TagsInput } from "../../base/tags";
import { DescriptionText, NameText, RefText } from "../../base/texts";
import { toIso } from "../../base/time";
import type { CauseRow, ChangeRow } from "./cause-store";
import type { ComponentRow, GroupRow } from "./store";

export const COLLAPSE = ["expanded", "collapsed", "collapsed_unless_incident"] as const;

/** Maximum number of components that one request can set. */
const BULK_MAX = 1_000;

export const Status = OneOf(COMPONENT_STATUSES, {
  title: "ComponentStatus",
  description: "Best to worst, in this order.",
});

/** Uptime that a component should reach in a month, in per cent. A share such as 0.999 is refused. */
const UptimeGoal = Type.Number({
  minimum: 1,
  maximum: 100,
  description: "Uptime that a month should reach, in per cent.",
  examples: [99.9],
});

/** Fields of a group. */
export const GroupInput = Type.Object(
  {
    name: NameText,
    ref: Type.Optional(RefText),
    description: Type.Optional(Nullable(DescriptionText)),
    collapse: Type.Optional(OneOf(COLLAPSE)),
  },
  { additionalProperties: false },
);
export type GroupInput = Static<typeof GroupInput>;

/** Fields of a group that change; fields that are left out stay. */
export const PartialGroupInput = Type.Partial(GroupInput, { additionalProperties: false });
export type PartialGroupInput = Static<typeof PartialGroupInput>;

/** Fields of a component. Its status is changed by other functions. */
export const ComponentInput = Type.Object(
  {
    name: NameText,
    ref: Type.Optional(RefText),
    description: Type.Optional(Nullable(DescriptionText)),
    showcase: Type.Optional(Type.Boolean()),
    start_date: Type.Optional(
      Nullable(
        Day({ description: "Day from which its uptime is known; by default its creation." }),
      ),
    ),
    only_show_if_degraded: Type.Optional(Type.Boolean()),
    show_latency: Type.Optional(Type.Boolean()),
    uptime_goal: Type.Optional(Nullable(UptimeGoal)),
    tags: Type.Optional(TagsInput),
  },
  { additionalProperties: false },
);
export type ComponentInput = Static<typeof ComponentInput>;

/** Fields of a component that change; fields that are left out stay. */
export const PartialComponentInput = Type.Partial(ComponentInput, { additionalProperties: false });
export type PartialComponentInput = Static<typeof PartialComponentInput>;

export const UpdateComponentBody = Type.Object(
  { status: Status, reason: Type.Optional(Nullable(DescriptionText)) },
  {
    additionalProperties: false,
    examples: [{ status: "degraded_performance", reason: "Slow queries" }],
  },
);

export const UpdateComponentsBody = Type.Object(
  {
    components: Type.Record(Type.String(), Status, {
      minProperties: 1,
      maxProperties: BULK_MAX,
      description:
        "Statuses by component id, or by page slug and `ref`, such as `acme:checkout-api`. All are set, or none.",
      examples: [{ cmp_01kah2v9w0e0rs6x0h3ye0a1bc: "major_outage" }],
    }),
    reason: Type.Optional(Nullable(DescriptionText)),
  },
  { additionalProperties: false },
);

export const ComponentGroup = Type.Object(
  {
    id: Type.String({ examples: ["grp_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    name: Type.String(),
    description: Nullable(Type.String()),
    position: Type.Integer(),
    collapse: OneOf(COLLAPSE),
  },
  { title: "ComponentGroup" },
);
export type ComponentGroup = Static<typeof ComponentGroup>;

export const Component = Type.Object(
  {
    id: Type.String({ examples: ["cmp_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    ref: Type.String({ examples: ["checkout-api"] }),
    page: Type.String({ description: "The page's slug.", examples: ["acme"] }),
    page_id: Type.String({ examples: ["page_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    group_id: Nullable(Type.String()),
    name: Type.String({ examples: ["Checkout API"] }),
    description: Nullable(Type.String()),
    position: Type.Integer(),
    status: Status,
    baseline_status: Status,
    causes: Type.Array(
      Type.Object({
        source: OneOf(CAUSE_SOURCES),
        id: Type.String({ description: "Id of the source: a key, an incident, a monitor." }),
        status: Status,
      }),
      { description: "Current causes of the status, which is the worst of them." },
    ),
    showcase: Type.Boolean(),
    start_date: Nullable(Type.String({ format: "date" })),
    only_show_if_degraded: Type.Boolean(),
    show_latency: Type.Boolean({
      description: "True if its page shows response times, if a monitor measures them.",
    }),
    uptime_goal: Nullable(UptimeGoal),
    version: Type.Integer({ minimum: 1 }),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: "Component" },
);
export type Component = Static<typeof Component>;

export const ComponentChange = Type.Object(
  {
    component: Type.String({ description: "The component's id." }),
    from: Status,
    to: Status,
    source: OneOf(CAUSE_SOURCES),
    reason: Nullable(Type.String()),
    actor: Type.Object({
      kind: OneOf(["user", "key", "cli", "system"] satisfies ActorKind[]),
      id: Nullable(Type.String()),
      label: Type.String(),
    }),
    at: Instant,
  },
  { title: "ComponentChange" },
);
export type ComponentChange = Static<typeof ComponentChange>;

export function presentGroup(row: GroupRow): ComponentGroup {
  const { id, name, description, position, collapse } = row;
  return { id, name, description, position, collapse };
}

/** Returns a component as the API shows it. `openCauses` are those of the component. */
export function presentComponent(
  row: ComponentRow,
  pageSlug: string,
  openCauses: readonly Pick<CauseRow, "source" | "sourceId" | "status">[],
): Component {
  return {
    id: row.id,
    ref: row.ref,
    page: pageSlug,
    page_id: row.pageId,
    group_id: row.groupId,
    name: row.name,
    description: row.description,
    position: row.position,
    status: row.status,
    baseline_status: row.baselineStatus,
    causes: openCauses.map((cause) => ({
      source: cause.source,
      id: cause.sourceId,
      status: cause.status,
    })),
    showcase: row.showcase,
    start_date: row.startDate,
    only_show_if_degraded: row.onlyShowIfDegraded,
    show_latency: row.showLatency,
    uptime_goal: row.uptimeGoal,
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}

export function presentChange(row: ChangeRow): ComponentChange {
  return {
    component: row.componentId,
    from: row.fromStatus,
    to: row.toStatus,
    source: row.source,
    reason: row.reason,
    actor: { kind: row.actorKind, id: row.actorId, label: row.actorLabel },
    at: toIso(row.at),
  };
}
