import { Elysia } from "elysia";
import type { AdminParts } from "../parts";
import { COMPONENTS_PATH } from "../paths";

/** `/admin/components`. */
export function componentAdminRoutes({ admissions }: AdminParts) {
  return new Elysia({ prefix: COMPONENTS_PATH }).use(admissions.plugin);
}
