import { conflict } from "../../errors";
import type { MonitorType } from "../../kernel/monitor-state";
import { TYPE_FORMS } from "./types";

/** Throws `conflict` for what is not asked but calls. */
export function requireActiveCheck(type: MonitorType): void {
  if (TYPE_FORMS[type].isPush) throw conflict("A job calls by itself; it cannot be checked.");
}
