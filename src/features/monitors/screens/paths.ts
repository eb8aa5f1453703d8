import type { MonitorType } from "../../../base/status";
import { monitorPath, MONITORS_PATH } from "../../../ui/frame/paths";

export const NEW_MONITOR_PATH = `${MONITORS_PATH}/new`;
/** Path of the form that acts on selected monitors. */
export const SELECTED_MONITORS_PATH = `${MONITORS_PATH}/selected`;

/** Returns the path of the form for a new monitor of a type. */
export function newMonitorPath(type: MonitorType): string {
  return `${NEW_MONITOR_PATH}?type=${type}`;
}

/** Returns the path of the form for a new monitor that is filled in from another. */
export function cloneMonitorPath({ id, type }: { id: string; type: MonitorType }): string {
  return `${newMonitorPath(type)}&from=${encodeURIComponent(id)}`;
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
    endToken: (key: string) => `${home}/tokens/${key}/end`,
  };
}
