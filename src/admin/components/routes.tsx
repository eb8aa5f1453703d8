import { Elysia } from "elysia";
import { Problem } from "../../errors";
import { orderComponents } from "../../features/components";
import { actorOf, formBody, seeOther, session, sessionOf } from "../../http";
import { redirectGet } from "../redirect-get";
import { createDone } from "../done";
import { NoPageYet } from "../no-page";
import type { AdminDependencies } from "../dependencies";
import { COMPONENTS_PATH, componentsOfPagePath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { readPages } from "../read-pages";
import { componentDeletionRoutes } from "./delete-routes";
import { componentDetailRoutes } from "./detail-routes";
import { groupAdminRoutes } from "./group-routes";
import { ComponentList } from "./list";
import { moveRoutes } from "./move-routes";
import { newComponentRoutes } from "./new-routes";
import { readListing, readPage } from "./read";
import { orderOf } from "./sequence";
import { statusRoutes } from "./status-routes";

const OUTDATED =
  "Components were added or removed since you opened this page, so the order was not saved. Below they are as they are now.";

/** `/admin/components`: every role may read, editors set statuses, admins change the list. */
export function componentAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const MAY_READ = session("viewer");
  const MAY_ARRANGE = session("admin");

  function showList(at: ScreenRequest, asked: string | undefined, rejection?: string) {
    const { role } = sessionOf(at.requestContext).user;
    const title = "Components";
    const page = readPage(ctx.db, asked);
    if (!page) return render.screen(at, { title, children: <NoPageYet {...{ title, role }} /> });
    const list = {
      page,
      pages: readPages(ctx.db),
      listing: readListing(ctx.db, page.id),
      role,
      rejection,
    };
    return render.screen(at, {
      title,
      status: rejection === undefined ? 200 : 409,
      children: <ComponentList {...list} />,
    });
  }

  return new Elysia({ prefix: COMPONENTS_PATH })
    .use(requestContexts.plugin)
    .use(newComponentRoutes(deps))
    .use(groupAdminRoutes(deps))
    .use(moveRoutes(deps))
    .use(statusRoutes(deps))
    .use(componentDetailRoutes(deps))
    .use(componentDeletionRoutes(deps))
    .get(
      "",
      async ({ request, requestContext, query }) =>
        showList({ request, requestContext }, query["page"]),
      screenOperation("The components of a page", MAY_READ),
    )
    .get(
      "/order",
      redirectGet(COMPONENTS_PATH),
      screenOperation("The components whose order was posted", MAY_READ),
    )
    .post(
      "/order",
      async ({ request, requestContext, body: form }) => {
        const page = readPage(ctx.db, form.text("page"));
        if (!page) return seeOther(COMPONENTS_PATH);
        const order = orderOf(form.all("item"));
        let isChanged: boolean;
        try {
          isChanged = await writeAs(requestContext, (tx) =>
            orderComponents(ctx, tx, page.id, order, actorOf(requestContext)),
          );
        } catch (error) {
          const isOutdated = error instanceof Problem && error.code === "validation_failed";
          if (isOutdated) return showList({ request, requestContext }, page.id, OUTDATED);
          throw error;
        }
        const text = isChanged ? "The order was changed." : undefined;
        return done(requestContext, componentsOfPagePath(page.slug), text);
      },
      { ...formBody(), ...screenOperation("Change the order of components", MAY_ARRANGE) },
    );
}
