import type { TSchema } from "@sinclair/typebox";
import type { EventType } from "../events/outbox";
import { AlarmEventData } from "../features/alarms/alarms";
import { ComponentEventData } from "../features/components/statuses";
import { IncidentEventData } from "../features/incidents/wire";
import { MaintenanceEventData } from "../features/maintenance/save";
import {
  CertificateEventData,
  MonitorEventData,
  MonitorReminderData,
} from "../features/monitors/wire";
import { TestEventData } from "../features/webhooks/wire";

/** Schemas of the data of events, for the OpenAPI document. */
export const EVENT_DATA: Readonly<Record<EventType, TSchema>> = {
  "component.status_changed": ComponentEventData,
  "incident.created": IncidentEventData,
  "incident.updated": IncidentEventData,
  "incident.resolved": IncidentEventData,
  "incident.reopened": IncidentEventData,
  "incident.postmortem_published": IncidentEventData,
  "incident.deleted": IncidentEventData,
  "maintenance.scheduled": MaintenanceEventData,
  "maintenance.updated": MaintenanceEventData,
  "maintenance.started": MaintenanceEventData,
  "maintenance.completed": MaintenanceEventData,
  "maintenance.cancelled": MaintenanceEventData,
  "maintenance.reminder": MaintenanceEventData,
  "monitor.down": MonitorEventData,
  "monitor.up": MonitorEventData,
  "monitor.degraded": MonitorEventData,
  "monitor.reminder": MonitorReminderData,
  "monitor.certificate_expiring": CertificateEventData,
  "fleet.alarm": AlarmEventData,
  "webhook.test": TestEventData,
};
