import type { MonitorType } from "../../domain/monitor-state";
import { MONITORS_PATH, monitorPath } from "../paths";

export const NEW_MONITOR_PATH = `${MONITORS_PATH}/new`;

/**
 * Returns the path of the form for a new monitor of a type, with a component preselected if given.
 */
export function newMonitorPath(type: MonitorType, component?: string): string {
  const query = new URLSearchParams({ type, ...(component ? { component } : {}) });
  return `${NEW_MONITOR_PATH}?${query}`;
}

/** Returns the paths of a monitor's screens and forms. */
export function pathsOfMonitor(id: string) {
  const home = monitorPath(id);
  return {
    home,
    edit: `${home}/edit`,
    delete: `${home}/delete`,
    pause: `${home}/pause`,
    resume: `${home}/resume`,
    check: `${home}/check`,
    rotate: `${home}/rotate`,
  };
}

/** Filters and position of a list. */
interface ListPlace {
  search?: string;
  page?: string | undefined;
  state?: string | undefined;
  type?: string | undefined;
  before?: string;
}

export function monitorListPath({ search, page, state, type, before }: ListPlace): string {
  const query = new URLSearchParams();
  const parts = { q: search, page, state, type, before };
  for (const [name, value] of Object.entries(parts)) if (value) query.set(name, value);
  const text = query.toString();
  return text === "" ? MONITORS_PATH : `${MONITORS_PATH}?${text}`;
}
