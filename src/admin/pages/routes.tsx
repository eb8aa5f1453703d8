import { Elysia } from "elysia";
import type { AdminParts } from "../parts";
import { PAGES_PATH } from "../paths";

/** `/admin/pages`. */
export function pageAdminRoutes({ admissions }: AdminParts) {
  return new Elysia({ prefix: PAGES_PATH }).use(admissions.plugin);
}
