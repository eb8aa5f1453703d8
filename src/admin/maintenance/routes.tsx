import { Elysia } from "elysia";
import type { AdminParts } from "../parts";
import { MAINTENANCE_PATH } from "../paths";

/** `/admin/maintenance`. */
export function maintenanceAdminRoutes({ admissions }: AdminParts) {
  return new Elysia({ prefix: MAINTENANCE_PATH }).use(admissions.plugin);
}
