import { type Static, Type } from "@sinclair/typebox";
import { CronText } from "../../../base/cron";
import { Day, Instant, Nullable, Text } from "../../../base/schema";
import { NameText } from "../../../base/texts";
import { toIso } from "../../../base/time";
import { ComponentReference } from "../../components/references";
import { NAMED_COMPONENTS_MAX, UpdateText } from "../../timeline/updates";
import { RemindMinutesBefore } from "../wire";
import type { ScheduleRecord } from "./store";

const EVERY_DAYS_MAX = 366;
/** Maximum duration of an occurrence: 30 days. */
export const DURATION_MINUTES_MAX = 43_200;

/** Fields of a schedule without its page and components. */
export const ScheduleFields = {
  name: NameText,
  body: UpdateText,
  cron: CronText,
  every_days: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: EVERY_DAYS_MAX,
        description:
          "Only every n-th day, counted from `starts_on`, which it needs. Default: null, every day of the expression.",
      }),
    ),
  ),
  duration_minutes: Type.Integer({
    minimum: 1,
    maximum: DURATION_MINUTES_MAX,
    description: "Duration of an occurrence, at most the time until the next one.",
  }),
  time_zone: Type.Optional(
    Text({
      minLength: 1,
      maxLength: 64,
      description:
        "IANA time zone of the expression and the days. Default: the time zone of the page.",
      examples: ["Europe/Berlin"],
    }),
  ),
  starts_on: Type.Optional(Nullable(Day({ description: "First day. Default: null, at once." }))),
  ends_on: Type.Optional(Nullable(Day({ description: "Last day. Default: null, no end." }))),
  remind_minutes_before: Type.Optional(RemindMinutesBefore),
  enabled: Type.Optional(
    Type.Boolean({
      description:
        "False to remove the occurrences to come and make none until it is true again. Default: true.",
    }),
  ),
};

const components = Type.Optional(
  Type.Array(ComponentReference, {
    uniqueItems: true,
    maxItems: NAMED_COMPONENTS_MAX,
    description: "Components of the page. Default: none.",
    examples: [["cmp_01kah2v9w0e0rs6x0h3ye0a1bc", "acme:checkout-api"]],
  }),
);

/** Fields of a new schedule. */
export const CreateScheduleBody = Type.Object(
  {
    page: Text({ minLength: 1, maxLength: 100, description: "The page's slug or id." }),
    ...ScheduleFields,
    components,
  },
  {
    additionalProperties: false,
    examples: [
      {
        page: "acme",
        name: "Database maintenance",
        body: "Search is read-only.",
        components: ["acme:search"],
        cron: "0 2 * * SUN#1",
        duration_minutes: 90,
        time_zone: "Europe/Berlin",
      },
    ],
  },
);
export type CreateScheduleBody = Static<typeof CreateScheduleBody>;

/** Fields of a schedule that can be changed: all but the page. */
export const UpdateScheduleBody = Type.Partial(Type.Object({ ...ScheduleFields, components }), {
  additionalProperties: false,
  minProperties: 1,
  examples: [{ enabled: false }],
});
export type UpdateScheduleBody = Static<typeof UpdateScheduleBody>;

/** A schedule as the API shows it. */
export const MaintenanceSchedule = Type.Object(
  {
    id: Type.String({ examples: ["msc_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    ref: Type.String({ examples: ["database-maintenance"] }),
    page: Type.String({ description: "The page's slug.", examples: ["acme"] }),
    page_id: Type.String({ examples: ["page_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    name: Type.String({ examples: ["Database maintenance"] }),
    body: Type.String({ description: "Markdown.", examples: ["Search is read-only."] }),
    components: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
      description: "Its components in the order of the page, without deleted ones.",
    }),
    cron: Type.String({ examples: ["0 2 * * SUN#1"] }),
    every_days: Nullable(Type.Integer()),
    duration_minutes: Type.Integer(),
    time_zone: Type.String({ examples: ["Europe/Berlin"] }),
    starts_on: Nullable(Type.String({ format: "date" })),
    ends_on: Nullable(Type.String({ format: "date" })),
    remind_minutes_before: Nullable(Type.Integer()),
    enabled: Type.Boolean(),
    version: Type.Integer({ minimum: 1 }),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: "MaintenanceSchedule" },
);
export type MaintenanceSchedule = Static<typeof MaintenanceSchedule>;

/** Returns a schedule as the API shows it. */
export function presentSchedule({ row, page, components }: ScheduleRecord): MaintenanceSchedule {
  return {
    id: row.id,
    ref: row.ref,
    page: page.slug,
    page_id: row.pageId,
    name: row.name,
    body: row.body,
    components: components.map(({ id, name }) => ({ id, name })),
    cron: row.cron,
    every_days: row.everyDays,
    duration_minutes: row.durationMinutes,
    time_zone: row.timeZone,
    starts_on: row.startsOn,
    ends_on: row.endsOn,
    remind_minutes_before: row.remindMinutesBefore,
    enabled: row.enabled,
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}
