/**
 * The seven scopes, the API's only permission mechanism. No scope implies another. Each has the
 * sentence that the dashboard, the documentation and the OpenAPI document show.
 */
export const SCOPES = {
  "read:status": "Read status page data, components, incidents and maintenance.",
  "write:incidents": "Create and update incidents.",
  "write:components": "Update component statuses.",
  "manage:monitors":
    "Create, update, delete and read monitors, whose configuration can hold secrets.",
  "write:maintenance": "Create and manage scheduled maintenance.",
  "manage:webhooks": "Configure webhook endpoints.",
  "read:analytics": "Access analytics and metrics data.",
} as const;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[];

/** Initial values for the form that creates a key. All of them can be edited. */
interface KeyPreset {
  id: string;
  /** Name of the preset and initial name of the key. */
  name: string;
  scopes: readonly Scope[];
  /** Purpose of the key. */
  sentence: string;
}

export const KEY_PRESETS: readonly KeyPreset[] = [
  {
    id: "ci-incident-bot",
    name: "CI incident bot",
    scopes: ["write:incidents", "write:components", "read:status"],
    sentence: "Opens and updates incidents and sets component statuses from a pipeline.",
  },
  {
    id: "read-only-dashboard",
    name: "Read-only dashboard",
    scopes: ["read:status"],
    sentence: "Shows the status of pages, components and incidents, and changes nothing.",
  },
  {
    id: "monitoring-as-code",
    name: "Monitoring as code",
    scopes: ["manage:monitors", "read:status"],
    sentence: "Keeps monitors in step with definitions in a repository.",
  },
  {
    id: "prometheus-scrape",
    name: "Prometheus scrape",
    scopes: ["read:analytics"],
    sentence: "Reads analytics and metrics, and nothing else.",
  },
];
