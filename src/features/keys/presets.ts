import type { Scope } from "./scopes";

/** A start for the form that creates a key: everything that it fills in can be changed there. */
export interface KeyPreset {
  id: string;
  /** Also the name that the key is given. */
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
