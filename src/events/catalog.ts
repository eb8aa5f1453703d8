/** Public events by type, as subscribers filter them. */
export const EVENTS = {
  "component.status_changed": "The status of a component changed.",
  "incident.created": "An incident was opened, or a draft published.",
  "incident.updated": "An incident got an update, or was edited.",
  "incident.resolved": "An incident was resolved.",
  "incident.reopened": "A resolved incident was reopened.",
  "incident.postmortem_published": "An incident's post-mortem was published.",
  "incident.deleted": "An incident was deleted.",
  "maintenance.scheduled": "A maintenance was planned.",
  "maintenance.updated": "A maintenance got an update, or was edited.",
  "maintenance.started": "A maintenance started.",
  "maintenance.completed": "A maintenance ended.",
  "maintenance.cancelled": "A maintenance was cancelled.",
  "maintenance.reminder": "A maintenance starts soon.",
  "monitor.down": "A monitor went down.",
  "monitor.up": "A monitor that was down or degraded is up.",
  "monitor.degraded": "A monitor is up but slow.",
  "monitor.reminder": "A monitor is still down.",
  "monitor.certificate_expiring": "A certificate expires in 14, 7, 3 or 1 days.",
  "fleet.alarm": "An alarm of the network, the mirror, the CDN or the fleet began or ended.",
  "webhook.test": "A test was sent to a webhook.",
} as const;

export type EventType = keyof typeof EVENTS;
