import type { Monitor } from "../../features/monitors";
import { NAME_MAX } from "../../domain/texts";
import { monitorResource } from "./forms";

const SUFFIX = " (copy)";

/**
 * Returns the values of a new monitor's form that are filled in from another monitor. Stored header
 * values and bodies are secrets, so headers and the body are left out.
 */
export function cloneResource(monitor: Monitor): Readonly<Record<string, unknown>> {
  // Cut between code points, so that no character is split.
  const name = [...monitor.name].slice(0, NAME_MAX - SUFFIX.length).join("");
  return {
    ...monitorResource(monitor),
    name: `${name}${SUFFIX}`,
    config_headers: {},
    config_body: null,
  };
}
