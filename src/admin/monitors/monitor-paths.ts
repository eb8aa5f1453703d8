import type { MonitorType } from "../../kernel/monitor-state";
import { MONITORS_PATH, monitorPath } from "../paths";

export const NEW_MONITOR_PATH = `${MONITORS_PATH}/new`;

/** The form for a new monitor of a type, which speaks for a component if one is named. */
export function newMonitorPath(type: MonitorType, component?: string): string {
  const query = new URLSearchParams({ type, ...(component ? { component } : {}) });
  return `${NEW_MONITOR_PATH}?${query}`;
}

/** Where a monitor's screens and forms are. */
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

/** What a list is narrowed by, and where it begins. */
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
