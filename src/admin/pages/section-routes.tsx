import { Elysia } from "elysia";
import { getPage, updatePage } from "../../features/pages";
import { actorOf, formBody, session } from "../../http";
import { createDone } from "../done";
import type { AdminDependencies } from "../dependencies";
import { screenOperation } from "../screen-operation";
import { createFormHandlers } from "./form-handlers";
import { pageTabPath } from "./frame";
import type { ShowPage } from "./screens";

/** Routes of a page's general, look and visibility settings, for admins. */
export function pageSectionRoutes(deps: AdminDependencies, showPage: ShowPage) {
  const { ctx, requestContexts, writeAs } = deps;
  const done = createDone(deps.flashes);
  const { show, save } = createFormHandlers(deps, showPage);
  const MAY_MANAGE = session("admin");

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/general",
      show("general"),
      screenOperation("The form for a page's name and times", MAY_MANAGE),
    )
    .post(
      "/:id/general",
      save({
        tab: "general",
        fields: ["name", "description", "time_zone", "locale", "history_days"],
        told: () => "The page was changed.",
      }),
      { ...formBody(), ...screenOperation("Change a page's name and times", MAY_MANAGE) },
    )
    .get("/:id/look", show("look"), screenOperation("The forms for a page's look", MAY_MANAGE))
    .post(
      "/:id/look",
      save({
        tab: "look",
        fields: ["theme", "accent"],
        told: () => "The look was changed.",
      }),
      { ...formBody(), ...screenOperation("Change a page's look", MAY_MANAGE) },
    )
    .get(
      "/:id/visibility",
      show("visibility"),
      screenOperation("The form for who sees a page", MAY_MANAGE),
    )
    .post(
      "/:id/visibility",
      save({
        tab: "visibility",
        fields: ["visibility"],
        told: (form) =>
          form.text("visibility") === "private"
            ? "Only signed-in users can see the page now."
            : "Everyone can see the page now.",
      }),
      { ...formBody(), ...screenOperation("Change who sees a page", MAY_MANAGE) },
    )
    .post(
      "/:id/default",
      async ({ requestContext, params }) => {
        const isChanged = await writeAs(requestContext, (tx) => {
          if (getPage(tx, params.id).isDefault) return false;
          updatePage(ctx, tx, params.id, { default: true }, actorOf(requestContext));
          return true;
        });
        const text = isChanged ? "This is the default page now." : undefined;
        return done(requestContext, pageTabPath(params.id, "visibility"), text);
      },
      { ...formBody(), ...screenOperation("Make a page the default one", MAY_MANAGE) },
    );
}
