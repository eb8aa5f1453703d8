import type { IncidentRecord } from "../../features/incidents/records";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import type { Snapshot } from "../../features/status/snapshot";
import { worstStatus } from "../../base/status";
import { toIso, toIsoOrNull } from "../../base/time";
import type { V2Component, V2Incident, V2Maintenance } from "./model";

/**
 * Returns the components of a page as in Statuspage: those without a group, then each group as an item,
 * followed by its components.
 */
export function presentComponents({ document, records }: Snapshot): V2Component[] {
  const byGroup = Map.groupBy(document.components, (component) => component.group_id);
  const rowsOf = (groupId: string | null) => (byGroup.get(groupId) ?? []).map(presentComponent);
  const groups = records.groups.flatMap((group): V2Component[] => {
    const own = rowsOf(group.id);
    const row = {
      id: group.id,
      name: group.name,
      status: worstStatus(own.map((component) => component.status)),
      created_at: toIso(group.createdAt),
      updated_at: toIso(group.updatedAt),
      position: group.position,
      description: group.description,
      showcase: false,
      start_date: null,
      group_id: null,
      page_id: group.pageId,
      group: true,
      only_show_if_degraded: false,
      components: own.map(({ id }) => id),
    };
    return [row, ...own];
  });
  return [...rowsOf(null), ...groups];
}

function presentComponent(component: Snapshot["document"]["components"][number]): V2Component {
  const { id, name, status, position, description, showcase, start_date } = component;
  const { created_at, updated_at, group_id, page_id, only_show_if_degraded } = component;
  return {
    id,
    name,
    status,
    created_at,
    updated_at,
    position,
    description,
    showcase,
    start_date,
    group_id,
    page_id,
    group: false,
    only_show_if_degraded,
  };
}

/** Data of the page that incidents and maintenances refer to. */
export interface DocumentContext {
  /** Components of the page by id. Deleted ones are missing and are left out. */
  components: ReadonlyMap<string, V2Component>;
  /** URL of the page, without a slash at the end. */
  pageUrl: string;
}

export function presentIncident(
  { row, components, updates }: IncidentRecord,
  context: DocumentContext,
): V2Incident {
  return {
    id: row.id,
    name: row.name,
    status: row.postmortemPublishedAt === null ? row.status : "postmortem",
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
    monitoring_at: toIsoOrNull(row.monitoringAt),
    resolved_at: toIsoOrNull(row.resolvedAt),
    impact: row.impact,
    shortlink: `${context.pageUrl}/incidents/${row.id}`,
    started_at: toIso(row.startedAt),
    page_id: row.pageId,
    components: rowsOf(components, context),
    incident_updates: updates.map((update) => ({
      ...presentUpdate(update, row.id),
      status: update.status,
      affected_components:
        update.components.length === 0
          ? null
          : update.components.map((named) => ({
              code: named.componentId,
              name: named.name,
              old_status: named.oldStatus,
              new_status: named.newStatus,
            })),
    })),
  };
}

export function presentMaintenance(
  { row, components, updates }: MaintenanceRecord,
  context: DocumentContext,
): V2Maintenance {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
    monitoring_at: null,
    resolved_at: toIsoOrNull(row.completedAt),
    impact: "maintenance",
    shortlink: `${context.pageUrl}/maintenance/${row.id}`,
    // Clients expect a time even if the maintenance has not started.
    started_at: toIso(row.startedAt ?? row.scheduledFor),
    page_id: row.pageId,
    scheduled_for: toIso(row.scheduledFor),
    scheduled_until: toIso(row.scheduledUntil),
    components: rowsOf(components, context),
    incident_updates: updates.map((update) => ({
      ...presentUpdate(update, row.id),
      status: update.status,
      affected_components: null,
    })),
  };
}

function rowsOf(named: readonly { id: string }[], { components }: DocumentContext): V2Component[] {
  return named.flatMap(({ id }) => components.get(id) ?? []);
}

function presentUpdate(
  update: {
    id: string;
    body: string;
    notify: boolean;
    displayAt: number;
    createdAt: number;
    /** Missing for updates of maintenance, which cannot be edited. */
    updatedAt?: number;
  },
  incidentId: string,
) {
  return {
    id: update.id,
    body: update.body,
    incident_id: incidentId,
    created_at: toIso(update.createdAt),
    updated_at: toIso(update.updatedAt ?? update.createdAt),
    display_at: toIso(update.displayAt),
    deliver_notifications: update.notify,
    custom_tweet: null,
    tweet_id: null,
  };
}
