import { invalidFields } from "../../base/errors";
import { belongingsOf, deletePage } from "../../features/page-deletion/delete";
import { createPage, getPage, updatePage } from "../../features/pages/service";
import { findNextDefaultPage } from "../../features/pages/remove";
import { listOldSlugs, releaseSlug } from "../../features/pages/slugs";
import { sessionOf } from "../../http/request-context";
import { Button } from "../../ui/buttons";
import { Notice } from "../../ui/blocks";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { componentsOfPagePath, PAGES_PATH } from "../../ui/frame/paths";
import { readPages } from "../../ui/frame/page-choice";
import { createArea } from "../../ui/screens/area";
import { FormScreen } from "../../ui/screens/form-screen";
import { ShowInstead } from "../../ui/screens/routes";
import { DeletePage, ReleaseSlug } from "./confirm";
import { DELETE_FORM, NEW_PAGE_FORM } from "./forms";
import { pageTabPath } from "./frame";
import { PageList } from "./list";
import { addPageMailRoutes } from "./mail";
import { newPageErrors } from "./page-slugs";
import { addPageSettingRoutes } from "./setting-routes";

/** `/admin/pages`: every role may read, admins create and change pages. */
export function pageAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, PAGES_PATH, "viewer");

  area.screen("", "List status pages", ({ requestContext }) => {
    const { role } = sessionOf(requestContext).user;
    const list = { pages: readPages(ctx.db), role, now: ctx.clock.now() };
    return { title: "Pages", children: <PageList {...list} /> };
  });

  area.form("/new", {
    showSummary: "Show the form for a new status page",
    summary: "Create a status page",
    role: "admin",
    form: NEW_PAGE_FORM,
    load(reader) {
      const pages = readPages(reader);
      return {
        hasSample: pages.some(({ isSample }) => isSample),
        hasPages: pages.some(({ isSample }) => !isSample),
      };
    },
    show: (state) => ({
      title: "Create page",
      children: (
        <FormScreen
          title="Create page"
          crumbs={[{ href: PAGES_PATH, label: "Pages" }]}
          above={
            state.context.hasSample ? (
              <Notice tone="maint" title="The sample page will be deleted">
                Creating your first page deletes the sample page with everything on it.
              </Notice>
            ) : null
          }
          form={NEW_PAGE_FORM}
          state={state}
          action={`${PAGES_PATH}/new`}
        >
          <Button kind="primary">Create page</Button>
        </FormScreen>
      ),
    }),
    submit(tx, body, actor) {
      const errors = newPageErrors(tx, body);
      if (errors.length > 0) throw invalidFields(errors);
      return createPage(ctx, tx, body, actor).id;
    },
    done: (id) => ({
      path: componentsOfPagePath(getPage(ctx.db, id).slug),
      text: "The page was created. Now add its components.",
    }),
  });

  addPageSettingRoutes(area, deps);
  addPageMailRoutes(area, deps);

  area.confirmation("/:id/slugs/:slug/release", {
    showSummary: "Show the confirmation for releasing an earlier slug",
    summary: "Release an earlier slug",
    role: "admin",
    show({ params: { id, slug } }) {
      const page = getPage(ctx.db, id);
      if (!listOldSlugs(ctx.db, page).some((old) => old.slug === slug)) {
        throw new ShowInstead({ path: pageTabPath(id, "address") });
      }
      const title = `Release “${slug}”`;
      return { title, children: <ReleaseSlug title={title} page={page} slug={slug} /> };
    },
    run(tx, { params: { id, slug } }, actor) {
      const isHeld = listOldSlugs(tx, getPage(tx, id)).some((old) => old.slug === slug);
      if (isHeld) releaseSlug(ctx, tx, id, slug, actor);
      return isHeld;
    },
    done: (isReleased, { params: { id, slug } }) => ({
      path: pageTabPath(id, "address"),
      text: isReleased ? `The slug “${slug}” was released.` : undefined,
    }),
  });

  area.action("/:id/default", {
    summary: "Make a page the default page",
    role: "admin",
    run(tx, { params: { id } }, actor) {
      if (getPage(tx, id).isDefault) return false;
      updatePage(ctx, tx, id, { default: true }, actor);
      return true;
    },
    done: (isChanged, { params }) => ({
      path: pageTabPath(params.id, "visibility"),
      text: isChanged ? "This page is now the default page." : undefined,
    }),
  });

  area.form("/:id/delete", {
    showSummary: "Show the confirmation for deleting a status page",
    summary: "Delete a status page",
    role: "admin",
    form: DELETE_FORM,
    load: (reader, { params }) => ({ page: getPage(reader, params.id) }),
    show(state) {
      const { page } = state.context;
      const title = `Delete “${page.name}”`;
      const heir = findNextDefaultPage(ctx.db, page.id);
      const belongings = belongingsOf(ctx.db, page.id);
      return { title, children: <DeletePage {...{ title, page, heir, belongings, state }} /> };
    },
    submit(tx, { slug }, actor, { params: { id } }) {
      // A wrong slug is omitted, and reported by the form.
      if (slug !== undefined) deletePage(ctx, tx, id, actor);
      return id;
    },
    done: () => ({ path: PAGES_PATH, text: "The page was deleted." }),
  });

  return area.routes;
}
