/** Public events by type, as subscribers filter them. */
export const EVENTS = {
  "component.status_changed": "A component's effective status changed.",
  "incident.created": "An incident was opened, or a draft published.",
  "incident.updated": "An incident got an update, or was edited.",
  "incident.resolved": "An incident was resolved.",
  "incident.reopened": "A resolved incident was reopened.",
  "incident.postmortem_published": "An incident's post-mortem was published.",
  "incident.deleted": "An incident was deleted.",
  "maintenance.scheduled": "A maintenance was planned.",
  "maintenance.updated": "A maintenance got an update, or was edited.",
  "maintenance.started": "A maintenance began.",
  "maintenance.completed": "A maintenance ended.",
  "maintenance.cancelled": "A maintenance was cancelled.",
  "maintenance.reminder": "A maintenance begins soon.",
  "monitor.down": "A monitor went down.",
  "monitor.up": "A monitor that was down or degraded is up.",
  "monitor.degraded": "A monitor answers, and too slowly.",
  "webhook.test": "A webhook was tried out.",
} as const;

export type EventType = keyof typeof EVENTS;
