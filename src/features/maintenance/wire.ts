import { type Static, Type } from "@sinclair/typebox";
import { Instant, InstantText, Nullable, OneOf, Text } from "../../base/schema";
import { MAINTENANCE_STATUSES } from "../../base/status";
import { NameText } from "../../base/texts";
import { toIso, toIsoOrNull } from "../../base/time";
import { type InSomeLanguage, inSomeLanguage } from "../../languages/tags";
import { ComponentReference } from "../components/references";
import { pageUrl } from "../pages/addresses";
import {
  EVENT_DATA_MAX_BYTES,
  EVENT_TEXT_MAX,
  eventFields,
  jsonBytes,
  NAMED_COMPONENTS_MAX,
  Notify,
  truncateText,
  UPDATE_TEXT_MAX,
  UpdateText,
} from "../timeline/updates";
import type { MaintenanceRecord, MaintenanceUpdateRow } from "./store";

/** Maximum time between the reminder and the start: 30 days. */
const REMIND_MINUTES_MAX = 43_200;

const Status = OneOf(MAINTENANCE_STATUSES, { title: "MaintenanceStatus" });

// Descriptions state the defaults: declared ones would also concern a PATCH that omits the field.
/** Time of the reminder of a maintenance. */
export const RemindMinutesBefore = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: REMIND_MINUTES_MAX,
    description:
      "Minutes before the start at which a reminder is sent; null for never. Default: 60. A reminder whose time has already passed is not sent.",
  }),
);

const fields = {
  name: NameText,
  components: Type.Array(ComponentReference, {
    uniqueItems: true,
    maxItems: NAMED_COMPONENTS_MAX,
    description: "Components of the page.",
    examples: [["cmp_01kah2v9w0e0rs6x0h3ye0a1bc", "acme:checkout-api"]],
  }),
  scheduled_for: InstantText(),
  scheduled_until: InstantText(),
  auto_start: Type.Boolean({
    description: "True to start it at its planned start. Default: true.",
  }),
  auto_complete: Type.Boolean({
    description:
      "True to complete it at its planned end, unless it started at that time or later. Default: true.",
  }),
  remind_minutes_before: RemindMinutesBefore,
};

/** Fields of a new maintenance. */
export const PlanMaintenanceBody = Type.Object(
  {
    page: Text({ minLength: 1, maxLength: 100, description: "The page's slug or id." }),
    name: fields.name,
    body: UpdateText,
    components: fields.components,
    scheduled_for: fields.scheduled_for,
    scheduled_until: fields.scheduled_until,
    auto_start: Type.Optional(fields.auto_start),
    auto_complete: Type.Optional(fields.auto_complete),
    remind_minutes_before: Type.Optional(fields.remind_minutes_before),
    notify: Type.Optional(
      Type.Boolean({
        description:
          "True to send notifications of it, and later of its automatic changes. Default: true.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [
      {
        page: "acme",
        name: "Database upgrade",
        body: "We are moving to a new version. Expect a minute without search.",
        components: ["cmp_01kah2v9w0e0rs6x0h3ye0a1bc"],
        scheduled_for: "2026-01-10T02:00:00Z",
        scheduled_until: "2026-01-10T04:00:00Z",
      },
    ],
  },
);

export type PlanMaintenanceBody = Static<typeof PlanMaintenanceBody>;

/**
 * Fields of a maintenance that can be changed: times and flags while it is scheduled. Until it is over, its end can
 * be moved to a later time.
 */
export const UpdateMaintenanceBody = Type.Partial(
  Type.Object({
    ...fields,
    notify: Type.Boolean({
      description:
        "True to send messages about the change to webhooks for people. Default: as planned, but false for a later end of a maintenance that has started. Subscribers get mails of updates, not of edits.",
    }),
  }),
  {
    additionalProperties: false,
    minProperties: 1,
    examples: [{ scheduled_until: "2026-01-10T05:00:00Z" }],
  },
);

export type UpdateMaintenanceBody = Static<typeof UpdateMaintenanceBody>;

/** Fields of a maintenance update. */
export const AddMaintenanceUpdateBody = Type.Object(
  {
    status: Type.Optional(Status),
    body: UpdateText,
    display_at: Type.Optional(
      InstantText({
        description: "Time at which it takes effect, not before the previous update. Default: now.",
      }),
    ),
    notify: Type.Optional(Notify),
  },
  {
    additionalProperties: false,
    examples: [{ status: "verifying", body: "Done; we are checking." }],
  },
);

export type AddMaintenanceUpdateBody = Static<typeof AddMaintenanceUpdateBody>;

/** Fields of a cancellation, which become the last update. */
export const CancelMaintenanceBody = Type.Object(
  {
    body: Type.Optional(
      Text({
        minLength: 1,
        maxLength: UPDATE_TEXT_MAX,
        description:
          "Markdown: the text of the last update. By default it says that the maintenance is cancelled.",
      }),
    ),
    notify: Type.Optional(
      Type.Boolean({
        description: "True to send notifications. Default: as planned.",
      }),
    ),
  },
  { additionalProperties: false, examples: [{ body: "The new version is not ready yet." }] },
);

export type CancelMaintenanceBody = Static<typeof CancelMaintenanceBody>;

const updateFields = {
  id: Type.String({ examples: ["upd_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  status: Status,
  body: Type.String({ description: "Markdown.", examples: ["Done; we are checking."] }),
  display_at: Instant,
  created_at: Instant,
};

export const MaintenanceUpdate = Type.Object(updateFields, { title: "MaintenanceUpdate" });

export type MaintenanceUpdate = Static<typeof MaintenanceUpdate> & InSomeLanguage;

/** An update with its maintenance's id and version. */
export const SingleMaintenanceUpdate = Type.Object(
  {
    ...updateFields,
    maintenance_id: Type.String({ examples: ["mnt_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    version: Type.Integer({
      minimum: 1,
      description: "Version of the maintenance, since updates have none.",
    }),
  },
  { title: "SingleMaintenanceUpdate" },
);

export type SingleMaintenanceUpdate = Static<typeof SingleMaintenanceUpdate>;

/** A maintenance as the API shows it. */
export const Maintenance = Type.Object(
  {
    id: Type.String({ examples: ["mnt_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    page: Type.String({ description: "The page's slug.", examples: ["acme"] }),
    page_id: Type.String({ examples: ["page_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    name: Type.String({ examples: ["Database upgrade"] }),
    status: Status,
    components: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
      description:
        "Its components, with their names when they were selected. They are under maintenance while it is in_progress or verifying.",
    }),
    scheduled_for: Instant,
    scheduled_until: Instant,
    started_at: Nullable(Instant),
    completed_at: Nullable(Instant),
    auto_start: Type.Boolean(),
    auto_complete: Type.Boolean(),
    remind_minutes_before: Nullable(Type.Integer()),
    schedule_id: Nullable(
      Type.String({
        description: "The maintenance schedule that made it; null if a person planned it.",
        examples: ["msc_01kah2v9w0e0rs6x0h3ye0a1bc"],
      }),
    ),
    occurrence_at: Nullable(Instant),
    url: Type.String({
      description: "Address of its public page.",
      examples: ["https://status.example.com/status/acme/maintenance/mnt_…"],
    }),
    version: Type.Integer({ minimum: 1 }),
    created_at: Instant,
    updated_at: Instant,
    updates: Type.Array(MaintenanceUpdate, {
      description: "Newest first: all if one maintenance is read, else the 20 newest.",
    }),
    truncated: Type.Optional(
      Type.Literal(true, {
        description:
          "Only in a status document that would be too large: the maintenance shows at most 20 components. Reading the maintenance returns all of them.",
      }),
    ),
  },
  { title: "Maintenance" },
);

export type Maintenance = Omit<Static<typeof Maintenance>, "updates"> & {
  updates: MaintenanceUpdate[];
};

function presentMaintenanceUpdate(row: MaintenanceUpdateRow): MaintenanceUpdate {
  return {
    id: row.id,
    status: row.status,
    body: row.body,
    display_at: toIso(row.displayAt),
    created_at: toIso(row.createdAt),
    ...inSomeLanguage(row.lang),
  };
}

/** Returns an update with its maintenance's id and version. */
export function presentSingleUpdate(
  { id, version }: Maintenance,
  update: MaintenanceUpdate,
): SingleMaintenanceUpdate {
  return { ...update, maintenance_id: id, version };
}

/** Returns a maintenance as the API shows it. `baseUrl` is the server's public address. */
export function presentMaintenance(record: MaintenanceRecord, baseUrl: string): Maintenance {
  const { row, page, components, updates } = record;
  return {
    id: row.id,
    page: page.slug,
    page_id: row.pageId,
    name: row.name,
    status: row.status,
    components: components.map(({ id, name }) => ({ id, name })),
    scheduled_for: toIso(row.scheduledFor),
    scheduled_until: toIso(row.scheduledUntil),
    started_at: toIsoOrNull(row.startedAt),
    completed_at: toIsoOrNull(row.completedAt),
    auto_start: row.autoStart,
    auto_complete: row.autoComplete,
    remind_minutes_before: row.remindMinutesBefore,
    schedule_id: row.scheduleId,
    occurrence_at: toIsoOrNull(row.occurrenceAt),
    url: `${pageUrl(baseUrl, page)}/maintenance/${row.id}`,
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
    updates: updates.map(presentMaintenanceUpdate),
    ...(record.isTruncated ? { truncated: true } : {}),
  };
}

/* Data of events. */

const { updates: _updates, ...Fields } = Maintenance.properties;

/** The data of a maintenance's event. */
export const MaintenanceEventData = Type.Object(
  {
    ...Fields,
    ...eventFields(MaintenanceUpdate, "MaintenanceEventUpdate"),
  },
  { title: "MaintenanceEventData" },
);

/**
 * Returns the data of a maintenance's event: the resource of the API with the newest update instead of
 * all. The text is cut at 4,000 code points. If the data is still too large, the list of components is
 * halved until it fits, then the text. Parts with something left out have `truncated: true`.
 */
export function eventData(maintenance: Maintenance, notify: boolean): Record<string, unknown> {
  const { updates, ...resource } = maintenance;
  const [latest] = updates;
  const dataWith = (textLength: number, components: number) => ({
    ...resource,
    components: resource.components.slice(0, components),
    ...(components < resource.components.length ? { truncated: true } : {}),
    latest_update: latest ? { ...latest, ...truncateText(latest.body, textLength) } : null,
    notify,
  });
  const isSmall = (textLength: number, count: number) =>
    canFit(resource.components, count) &&
    jsonBytes(dataWith(textLength, count)) <= EVENT_DATA_MAX_BYTES;
  let textLength = EVENT_TEXT_MAX;
  let count = resource.components.length;
  while (count > 0 && !isSmall(textLength, count)) count = Math.floor(count / 2);
  while (textLength > 0 && !isSmall(textLength, count)) textLength = Math.floor(textLength / 2);
  return dataWith(textLength, count);
}

/** Returns false if the first `count` components alone exceed the limit of an event. */
function canFit(components: Maintenance["components"], count: number): boolean {
  let bytes = 0;
  for (let index = 0; index < count && bytes <= EVENT_DATA_MAX_BYTES; index++) {
    bytes += jsonBytes(components[index]);
  }
  return bytes <= EVENT_DATA_MAX_BYTES;
}
