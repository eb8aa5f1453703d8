import { Elysia } from "elysia";
import { listAllPages } from "../../features/pages";
import type { Snapshots } from "../../features/status";
import { session } from "../../http";
import type { AdminParts } from "../parts";
import { HOME_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { Overview, type PageLine } from "./overview";

/** `/admin`. */
export function overviewAdminRoutes({ ctx, admissions, render }: AdminParts, snapshots: Snapshots) {
  function readPages(now: number): PageLine[] {
    return listAllPages(ctx.db, {}).flatMap((page) => {
      const document = snapshots.read(page.slug, now)?.document;
      if (!document) return [];
      const { status, components } = document;
      const { slug, name, isSample } = page;
      const isPublic = page.visibility === "public";
      return [{ slug, name, isPublic, isSample, status, componentCount: components.length }];
    });
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      HOME_PATH,
      async ({ request, admission }) =>
        render.screen(
          { request, admission },
          { title: "Overview", children: <Overview pages={readPages(admission.now)} /> },
        ),
      screenOperation("Every status page and how it is", session("viewer")),
    );
}
