import { Elysia } from "elysia";
import type { AdminParts } from "../parts";
import { INCIDENTS_PATH } from "../paths";

/** `/admin/incidents`. */
export function incidentAdminRoutes({ admissions }: AdminParts) {
  return new Elysia({ prefix: INCIDENTS_PATH }).use(admissions.plugin);
}
