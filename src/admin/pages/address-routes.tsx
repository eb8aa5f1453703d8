import { Elysia } from "elysia";
import { getPage, listOldSlugs, releaseSlug } from "../../features/pages";
import { actorOf, formBody, seeOther, session } from "../../http";
import { redirectGetById } from "../redirect-get";
import { createDone } from "../done";
import type { AdminDependencies } from "../dependencies";
import { screenOperation } from "../screen-operation";
import { ReleaseSlug } from "./confirm";
import { createFormHandlers } from "./form-handlers";
import { pageTabPath } from "./frame";
import type { ShowPage } from "./screens";

/** Routes of a page's slug, former slugs and custom domains, for admins. */
export function pageAddressRoutes(deps: AdminDependencies, showPage: ShowPage) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const { show, save } = createFormHandlers(deps, showPage);
  const MAY_MANAGE = session("admin");

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/address",
      show("address"),
      screenOperation("The forms for a page's address", MAY_MANAGE),
    )
    .post(
      "/:id/address",
      save({
        tab: "address",
        fields: ["slug"],
        told: () => "The slug was changed. The earlier address leads to the new one.",
      }),
      { ...formBody(), ...screenOperation("Change a page's slug", MAY_MANAGE) },
    )
    .get(
      "/:id/domains",
      redirectGetById((id) => pageTabPath(id, "address")),
      screenOperation("The page whose host names were refused", MAY_MANAGE),
    )
    .post(
      "/:id/domains",
      save({
        tab: "address",
        fields: ["custom_domains"],
        told: () => "The custom domains were changed.",
      }),
      { ...formBody(), ...screenOperation("Change a page's own host names", MAY_MANAGE) },
    )
    .get(
      "/:id/slugs/:slug/release",
      async ({ request, requestContext, params }) => {
        const page = getPage(ctx.db, params.id);
        const { slug } = params;
        if (!listOldSlugs(ctx.db, page).some((old) => old.slug === slug)) {
          return seeOther(pageTabPath(page.id, "address"));
        }
        const title = `Release “${slug}”`;
        return render.screen(
          { request, requestContext },
          { title, children: <ReleaseSlug title={title} page={page} slug={slug} /> },
        );
      },
      screenOperation("Asks before an earlier slug is released", MAY_MANAGE),
    )
    .post(
      "/:id/slugs/:slug/release",
      async ({ requestContext, params: { id, slug } }) => {
        const isReleased = await writeAs(requestContext, (tx) => {
          // Sent twice it is released already.
          const isHeld = listOldSlugs(tx, getPage(tx, id)).some((old) => old.slug === slug);
          if (isHeld) releaseSlug(ctx, tx, id, slug, actorOf(requestContext));
          return isHeld;
        });
        const text = isReleased ? `The slug ${slug} was released.` : undefined;
        return done(requestContext, pageTabPath(id, "address"), text);
      },
      { ...formBody(), ...screenOperation("Release an earlier slug", MAY_MANAGE) },
    );
}
