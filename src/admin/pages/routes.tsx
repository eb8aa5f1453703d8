import { Elysia } from "elysia";
import { getPage } from "../../features/pages";
import { actorOf, formBody, session, sessionOf } from "../../http";
import { createDone } from "../done";
import { complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { componentsOfPagePath, PAGES_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { readPages } from "../read-pages";
import { pageAddressRoutes } from "./address-routes";
import { createFromForm, inPlainWords } from "./change";
import { pageDeletionRoutes } from "./delete-routes";
import { NewPage } from "./form";
import { PageList } from "./list";
import { pageLogoRoutes } from "./logo-routes";
import { createShowPage } from "./screens";
import { pageSectionRoutes } from "./section-routes";
import { NEW_PAGE, readNewPage, type PageValues, toInput } from "./values";

/** `/admin/pages`: every role may read, admins create and change pages. */
export function pageAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeOnceAs } = deps;
  const done = createDone(deps.flashes);
  const showPage = createShowPage(deps);
  const MAY_READ = session("viewer");
  const MAY_MANAGE = session("admin");

  function showNew(at: ScreenRequest, values: PageValues, complaints = NO_COMPLAINTS) {
    const pages = readPages(ctx.db);
    return render.screen(at, {
      title: "Create page",
      status: statusOf(complaints),
      children: (
        <NewPage
          values={values}
          complaints={complaints}
          formToken={newFormToken(ctx)}
          hasSample={pages.some(({ isSample }) => isSample)}
          hasPages={pages.some(({ isSample }) => !isSample)}
        />
      ),
    });
  }

  return new Elysia({ prefix: PAGES_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext }) => {
        const list = {
          pages: readPages(ctx.db),
          role: sessionOf(requestContext).user.role,
          now: ctx.clock.now(),
        };
        return render.screen(
          { request, requestContext },
          { title: "Pages", children: <PageList {...list} /> },
        );
      },
      screenOperation("The list of status pages", MAY_READ),
    )
    .get(
      "/new",
      async ({ request, requestContext }) => showNew({ request, requestContext }, NEW_PAGE),
      screenOperation("The form for a new status page", MAY_MANAGE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) => {
        const values = readNewPage(form);
        const asked = toInput(values);
        try {
          const { subjectId } = await writeOnceAs(requestContext, form, (tx) => {
            const made = createFromForm(ctx, tx, asked, actorOf(requestContext));
            return { made, subjectId: made.id };
          });
          // What it has none of yet, and cannot do without.
          const { slug } = getPage(ctx.db, subjectId);
          const text = "The page was created. Add the components that it shows.";
          return done(requestContext, componentsOfPagePath(slug), text);
        } catch (error) {
          return showNew(
            { request, requestContext },
            values,
            complaintsOrThrow(inPlainWords(error, asked)),
          );
        }
      },
      { ...formBody(), ...screenOperation("Create a status page", MAY_MANAGE) },
    )
    .get(
      "/:id",
      async ({ request, requestContext, params }) =>
        showPage({ request, requestContext }, params.id, "overview"),
      screenOperation("One status page", MAY_READ),
    )
    .use(pageSectionRoutes(deps, showPage))
    .use(pageAddressRoutes(deps, showPage))
    .use(pageLogoRoutes(deps, showPage))
    .use(pageDeletionRoutes(deps));
}
