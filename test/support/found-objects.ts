import type {
  FoundComponent,
  FoundGroup,
  FoundIncident,
  FoundMaintenance,
  FoundMonitor,
  FoundPage,
  FoundSchedule,
  FoundWebhook,
} from "../../src/imports/found";

/*
 * Objects as importers find them in a source. Their ids are `1`, `2` and so on by kind, and they belong to the page
 * with the id 1.
 */

type Changes<Found extends { body: unknown }> = Partial<Omit<Found, "body">> & {
  body?: Partial<Found["body"]>;
};

const foreign = (type: string, id: string) => ({ type, id, name: `The ${type} ${id}` });

export function foundPage(id: string, { body, ...changes }: Changes<FoundPage> = {}): FoundPage {
  return {
    foreign: foreign("page", id),
    body: { slug: `page-${id}`, name: `Page ${id}`, compat: ["uptime-kuma"], ...body },
    changes: [],
    number: null,
    isDefault: false,
    domains: [],
    logo: null,
    ...changes,
  };
}

export function foundGroup(id: string, { body, ...changes }: Changes<FoundGroup> = {}): FoundGroup {
  return {
    foreign: foreign("group", id),
    body: { name: `Group ${id}`, ...body },
    changes: [],
    number: null,
    page: "page:1",
    ...changes,
  };
}

export function foundComponent(
  id: string,
  { body, ...changes }: Changes<FoundComponent> = {},
): FoundComponent {
  return {
    foreign: foreign("component", id),
    body: { name: `Component ${id}`, show_latency: true, ...body },
    changes: [],
    number: null,
    page: "page:1",
    group: null,
    key: null,
    baseline: null,
    ...changes,
  };
}

export function foundMonitor(
  id: string,
  { body, ...changes }: Changes<FoundMonitor> = {},
): FoundMonitor {
  const config = { url: "https://shop.test/" };
  return {
    foreign: foreign("monitor", id),
    body: { type: "http", name: `Monitor ${id}`, config, ...body } as FoundMonitor["body"],
    changes: [],
    number: null,
    components: [],
    dependsOn: [],
    tokens: [],
    ...changes,
  };
}

/** A monitor of a type that cannot be checked. */
export function heldMonitor(id: string, changes: Changes<FoundMonitor> = {}): FoundMonitor {
  const config = { source: "uptime-kuma", type: "mongodb", target: "db.test", settings: {} };
  const { body, ...others } = changes;
  return foundMonitor(id, {
    held: "MongoDB cannot be checked yet.",
    ...others,
    body: { type: "unsupported", config, ...body } as FoundMonitor["body"],
  });
}

export function foundWebhook(
  id: string,
  { body, ...changes }: Changes<FoundWebhook> = {},
): FoundWebhook {
  return {
    foreign: foreign("notification", id),
    body: {
      url: "https://hooks.example.com/alerts",
      description: `Webhook ${id}`,
      events: ["monitor.down", "monitor.up"],
      ...body,
    },
    changes: [],
    page: null,
    monitors: "all",
    ...changes,
  };
}

export function foundMaintenance(
  id: string,
  { body, ...changes }: Changes<FoundMaintenance> = {},
): FoundMaintenance {
  return {
    foreign: foreign("maintenance", id),
    body: {
      name: `Maintenance ${id}`,
      scheduled_for: "2026-01-10T02:00:00Z",
      scheduled_until: "2026-01-10T04:00:00Z",
      updates: [{ status: "scheduled", body: "We upgrade.", display_at: "2026-01-10T02:00:00Z" }],
      ...body,
    },
    changes: [],
    number: null,
    page: "page:1",
    components: [],
    ...changes,
  };
}

export function foundSchedule(
  id: string,
  { body, ...changes }: Changes<FoundSchedule> = {},
): FoundSchedule {
  return {
    foreign: foreign("schedule", id),
    body: {
      name: `Schedule ${id}`,
      body: "We upgrade.",
      cron: "0 2 * * SUN",
      duration_minutes: 60,
      ...body,
    },
    changes: [],
    page: "page:1",
    components: [],
    ...changes,
  };
}

export function foundIncident(
  id: string,
  { body, ...changes }: Changes<FoundIncident> = {},
): FoundIncident {
  return {
    foreign: foreign("incident", id),
    body: {
      name: `Incident ${id}`,
      impact_override: null,
      started_at: "2026-01-10T02:00:00Z",
      updates: [
        {
          status: "investigating",
          body: "We look into it.",
          display_at: "2026-01-10T02:00:00Z",
          components: {},
        },
      ],
      postmortem: null,
      ...body,
    },
    changes: [],
    number: null,
    page: "page:1",
    externalId: `incident:${id}`,
    ...changes,
  };
}
