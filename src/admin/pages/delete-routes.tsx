import { Elysia } from "elysia";
import { invalidFields } from "../../errors";
import { belongingsOf, deletePage } from "../../features/page-deletion";
import { findNextDefaultPage, getPage } from "../../features/pages";
import { actorOf, formBody, session } from "../../http";
import { createDeleteOnce } from "../delete-once";
import { complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { PAGES_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { DeletePage } from "./confirm";

const DELETION = { path: PAGES_PATH, sentence: () => "The page was deleted." };

/** Routes that delete a page, for admins. */
export function pageDeletionRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render } = deps;
  const deleteOnce = createDeleteOnce(deps);
  const MAY_MANAGE = session("admin");

  function ask(at: ScreenRequest, id: string, slug: string, complaints = NO_COMPLAINTS) {
    const page = getPage(ctx.db, id);
    const title = `Delete “${page.name}”`;
    const heir = findNextDefaultPage(ctx.db, id);
    const belongings = belongingsOf(ctx.db, id);
    const formToken = newFormToken(ctx);
    const question = { title, page, belongings, heir, slug, complaints, formToken };
    return render.screen(at, {
      title,
      status: statusOf(complaints),
      children: <DeletePage {...question} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/delete",
      async ({ request, requestContext, params }) =>
        ask({ request, requestContext }, params.id, ""),
      screenOperation("Asks before a status page is deleted", MAY_MANAGE),
    )
    .post(
      "/:id/delete",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const slug = form.text("slug");
        try {
          return await deleteOnce(requestContext, form, DELETION, (tx) => {
            const page = getPage(tx, id);
            if (slug.trim() !== page.slug) throw wrongSlug(page.slug);
            deletePage(ctx, tx, id, actorOf(requestContext));
            return { made: page.name, subjectId: id };
          });
        } catch (error) {
          return ask({ request, requestContext }, id, slug, complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Delete a status page", MAY_MANAGE) },
    );
}

function wrongSlug(slug: string) {
  const detail = `Nothing was deleted. Type ${slug} to delete the page.`;
  return invalidFields([{ pointer: "#/slug", detail }]);
}
