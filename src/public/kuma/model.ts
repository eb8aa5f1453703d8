import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../base/schema";

/*
 * Schemas of the public JSON of Uptime Kuma 2, with the field `incident` of version 1. No field is ever
 * omitted.
 */

const Time = Type.String({ description: "In UTC.", examples: ["2026-03-10 12:00:00"] });

export const KumaIncident = Type.Object(
  {
    id: Type.Integer(),
    style: Type.String({ description: "`danger`, `warning` or `info`, by the impact." }),
    title: Type.String(),
    content: Type.String({ description: "Newest update, in Markdown." }),
    pin: Type.Boolean(),
    active: Type.Boolean(),
    createdDate: Time,
    lastUpdatedDate: Nullable(Time),
    status_page_id: Type.Integer(),
  },
  { title: "KumaIncident" },
);
export type KumaIncident = Static<typeof KumaIncident>;

const KumaGroup = Type.Object(
  {
    id: Type.Integer({ description: "0 for components without a group." }),
    name: Type.String(),
    weight: Type.Integer(),
    monitorList: Type.Array(
      Type.Object({
        id: Type.Integer(),
        name: Type.String(),
        sendUrl: Type.Literal(0),
        type: Type.String(),
      }),
    ),
  },
  { title: "KumaGroup" },
);
export type KumaGroup = Static<typeof KumaGroup>;

const KumaMaintenance = Type.Object(
  {
    id: Type.Integer(),
    title: Type.String(),
    description: Type.String(),
    strategy: Type.Literal("single"),
    intervalDay: Type.Integer(),
    active: Type.Boolean(),
    dateRange: Type.Array(Type.String()),
    timeRange: Type.Array(Type.String()),
    weekdays: Type.Array(Type.Integer()),
    daysOfMonth: Type.Array(Type.Integer()),
    timeslotList: Type.Array(Type.Object({ startDate: Type.String(), endDate: Type.String() })),
    cron: Type.Null(),
    duration: Type.Null(),
    durationMinutes: Type.Null(),
    timezone: Type.String(),
    timezoneOption: Type.String(),
    timezoneOffset: Type.String({ examples: ["+01:00"] }),
    status: Type.Literal("under-maintenance"),
  },
  { title: "KumaMaintenance" },
);
export type KumaMaintenance = Static<typeof KumaMaintenance>;

export const KumaPage = Type.Object(
  {
    config: Type.Object({
      slug: Type.String(),
      title: Type.String(),
      description: Nullable(Type.String()),
      icon: Type.String(),
      autoRefreshInterval: Type.Integer(),
      theme: Type.String(),
      published: Type.Boolean(),
      showTags: Type.Boolean(),
      customCSS: Type.String(),
      footerText: Type.Null(),
      showPoweredBy: Type.Boolean(),
      analyticsId: Type.Null(),
      analyticsScriptUrl: Type.Null(),
      analyticsType: Type.Null(),
      googleAnalyticsId: Type.Null(),
      showCertificateExpiry: Type.Boolean(),
      showOnlyLastHeartbeat: Type.Boolean(),
      rssTitle: Type.Null(),
    }),
    incident: Nullable(KumaIncident),
    incidents: Type.Array(KumaIncident),
    publicGroupList: Type.Array(KumaGroup),
    maintenanceList: Type.Array(KumaMaintenance),
  },
  { title: "KumaPage" },
);
export type KumaPage = Static<typeof KumaPage>;

export const KumaHeartbeats = Type.Object(
  {
    heartbeatList: Type.Record(
      Type.String(),
      Type.Array(
        Type.Object({
          status: Type.Integer({ description: "0 down, 1 up, 2 pending, 3 maintenance." }),
          time: Time,
          msg: Type.Literal(""),
          ping: Nullable(Type.Number()),
        }),
      ),
    ),
    uptimeList: Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 1 })),
  },
  { title: "KumaHeartbeats" },
);
export type KumaHeartbeats = Static<typeof KumaHeartbeats>;

export const KumaIncidentHistory = Type.Object(
  {
    ok: Type.Literal(true),
    incidents: Type.Array(KumaIncident),
    total: Type.Integer(),
    nextCursor: Nullable(Time),
    hasMore: Type.Boolean(),
  },
  { title: "KumaIncidentHistory" },
);
export type KumaIncidentHistory = Static<typeof KumaIncidentHistory>;

export const KumaManifest = Type.Object(
  {
    name: Type.String(),
    start_url: Type.String(),
    display: Type.Literal("standalone"),
    icons: Type.Array(
      Type.Object({ src: Type.String(), sizes: Type.String(), type: Type.String() }),
    ),
  },
  { title: "KumaManifest" },
);

export const KumaEntryPage = Type.Object(
  {
    type: Type.String(),
    entryPage: Type.Optional(Type.String({ examples: ["statusPage-acme"] })),
    statusPageSlug: Type.Optional(Type.String()),
  },
  { title: "KumaEntryPage" },
);

export const KumaError = Type.Object(
  { status: Type.Literal("fail"), msg: Type.String() },
  { title: "KumaError" },
);
