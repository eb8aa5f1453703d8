import { conflict } from "../../errors";
import type { MonitorType } from "../../domain/monitor-state";
import { TYPE_FORMS } from "./types";

/** Throws `conflict` for push monitors, which the server cannot check. */
export function requireActiveCheck(type: MonitorType): void {
  if (TYPE_FORMS[type].isPush)
    throw conflict("Push monitors wait for calls and cannot be checked.");
}
