import type { Static } from "@sinclair/typebox";
import type { Reader } from "../../db/statements";
import { kumaTypeOf } from "../../base/compat";
import { type CompatEntry, numbersOf, readEntries } from "../../features/compat/entries";
import { isUnderWay } from "../../features/maintenance/rules";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import type { Snapshot } from "../../features/status/snapshot";
import { presentIncident } from "./incidents";
import type { KumaGroup, KumaMaintenance, KumaManifest, KumaPage } from "./model";
import { offsetOf, zonedText } from "./times";

/** Name of the group of components without a group. */
const UNGROUPED = "Services";

/** Returns the page with its groups, open incidents and the maintenance in progress, at `now` (unix ms). */
export function pageDocument(reader: Reader, snapshot: Snapshot, now: number): KumaPage {
  const { page } = snapshot.document;
  const { incidents, maintenance } = snapshot.records;
  const underWay = maintenance.filter(({ row }) => isUnderWay(row.status));
  const numberOf = numbersOf(reader, [
    page.id,
    ...[...incidents, ...underWay].map(({ row }) => row.id),
    ...snapshot.records.groups.map(({ id }) => id),
  ]);
  const open = incidents.map((record) => presentIncident(record, numberOf));
  return {
    config: {
      slug: page.slug,
      title: page.name,
      description: page.description,
      icon: iconOf(snapshot),
      autoRefreshInterval: 300,
      theme: page.theme === "system" ? "auto" : page.theme,
      published: true,
      showTags: false,
      customCSS: "",
      footerText: null,
      showPoweredBy: false,
      analyticsId: null,
      analyticsScriptUrl: null,
      analyticsType: null,
      googleAnalyticsId: null,
      showCertificateExpiry: false,
      showOnlyLastHeartbeat: false,
      rssTitle: null,
    },
    incident: open[0] ?? null,
    incidents: open,
    publicGroupList: groupsOf(snapshot, readEntries(reader, snapshot), numberOf),
    maintenanceList: underWay.map((record) =>
      presentMaintenance(record, page.time_zone, numberOf(record.row.id), now),
    ),
  };
}

function iconOf({ document }: Snapshot): string {
  const { logo } = document.page;
  return logo === null ? "/icon.svg" : new URL(logo).pathname;
}

/** Returns the groups in the order of the page, components without a group first. Empty groups are left out. */
function groupsOf(
  { records }: Snapshot,
  entries: readonly CompatEntry[],
  numberOf: (id: string) => number,
): KumaGroup[] {
  const byGroup = Map.groupBy(entries, ({ component }) => component.group_id);
  return [null, ...records.groups]
    .map((group) => ({ group, own: byGroup.get(group?.id ?? null) ?? [] }))
    .filter(({ own }) => own.length > 0)
    .map(({ group, own }, index) => ({
      id: group ? numberOf(group.id) : 0,
      name: group?.name ?? UNGROUPED,
      weight: index + 1,
      monitorList: own.map(({ component, number, watcher }) => ({
        id: number,
        name: component.name,
        sendUrl: 0,
        type: kumaTypeOf(watcher?.type),
      })),
    }));
}

function presentMaintenance(
  { row, updates }: MaintenanceRecord,
  timezone: string,
  id: number,
  now: number,
): KumaMaintenance {
  const startDate = zonedText(row.scheduledFor, timezone);
  const endDate = zonedText(row.scheduledUntil, timezone);
  return {
    id,
    title: row.name,
    description: updates[0]?.body ?? "",
    strategy: "single",
    intervalDay: 1,
    active: true,
    dateRange: [startDate, endDate],
    timeRange: [],
    weekdays: [],
    daysOfMonth: [],
    timeslotList: [{ startDate, endDate }],
    cron: null,
    duration: null,
    durationMinutes: null,
    timezone,
    timezoneOption: timezone,
    timezoneOffset: offsetOf(now, timezone),
    status: "under-maintenance",
  };
}

/** Returns the description of a page as an app. */
export function manifest(snapshot: Snapshot): Static<typeof KumaManifest> {
  const { name, slug } = snapshot.document.page;
  return {
    name,
    start_url: `/status/${slug}`,
    display: "standalone",
    icons: [{ src: iconOf(snapshot), sizes: "128x128", type: "image/png" }],
  };
}
