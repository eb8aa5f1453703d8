import type { Monitor } from "../../features/monitors";
import { monitorResource } from "./forms";

/** Characters of the name of a cloned monitor. */
const NAME_MAX = 100;

/**
 * Returns the values of a new monitor's form that are filled in from another monitor. Stored header
 * values and bodies are secrets, so headers and the body are left out.
 */
export function cloneResource(monitor: Monitor): Readonly<Record<string, unknown>> {
  return {
    ...monitorResource(monitor),
    name: `${monitor.name} (copy)`.slice(0, NAME_MAX),
    config_headers: {},
    config_body: null,
  };
}
