import { type Actor, roleAllows } from "../../../base/actor";
import { invalidFields } from "../../../base/errors";
import { composed, validate } from "../../../base/validation";
import type { Reader, Tx } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Notice } from "../../../ui/blocks";
import type { StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { readPages } from "../../../ui/frame/page-choice";
import { componentsOfPagePath, PAGES_PATH } from "../../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { type Area, createArea } from "../../../ui/screens/area";
import { ShowInstead } from "../../../ui/screens/routes";
import { belongingsOf, deletePage } from "../../page-deletion/delete";
import { deleteLogo, putLogo } from "../logo";
import {
  addPageErrors,
  createPage,
  findNextDefaultPage,
  getPage,
  listOldSlugs,
  releaseSlug,
  updatePage,
} from "../pages";
import { pageUrl } from "../addresses";
import type { PageRow } from "../store";
import { PageInput, PartialPageInput } from "../wire";
import {
  COMPAT_FORM,
  DELETE_FORM,
  DOMAINS_FORM,
  GENERAL_FORM,
  LOGO_FORM,
  LOOK_FORM,
  NEW_PAGE_FORM,
  pageResource,
  pageVersion,
  SLUG_FORM,
  VISIBILITY_FORM,
} from "./forms";
import {
  newPageErrors,
  ownHostErrors,
  PageFrame,
  PageList,
  type PageTab,
  pageTabPath,
  pageTabTitle,
  takenSlugErrors,
} from "./list";
import {
  addPageMailRoutes,
  Address,
  DeletePage,
  General,
  Look,
  PageFacts,
  Visibility,
} from "./settings";
import { Share } from "./share";

/** `/admin/pages`: every role may read, admins create and change pages. */
export function pageAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, PAGES_PATH, "viewer");

  area.screen("", ({ requestContext }) => {
    const { role } = sessionOf(requestContext).user;
    const list = { pages: readPages(ctx.db), role, now: ctx.clock.now() };
    return { title: "Pages", children: <PageList {...list} /> };
  });

  area.form("/new", {
    role: "admin",
    form: NEW_PAGE_FORM,
    load(reader) {
      const pages = readPages(reader);
      return {
        hasSample: pages.some(({ isSample }) => isSample),
        hasPages: pages.some(({ isSample }) => !isSample),
      };
    },
    show: ({ context }) => ({
      title: "Create page",
      crumbs: [{ href: PAGES_PATH, label: "Pages" }],
      above: context.hasSample ? (
        <Notice tone="maint" title="The sample page will be deleted">
          Creating your first page deletes the sample page with everything on it.
        </Notice>
      ) : null,
      button: "Create page",
    }),
    submit(tx, body, actor) {
      const errors = newPageErrors(tx, body);
      if (errors.length > 0) throw invalidFields(errors);
      return createPage(ctx, tx, validate(PageInput, body), actor).id;
    },
    done: (id) => ({
      path: componentsOfPagePath(getPage(ctx.db, id).slug),
      text: "The page was created. Now add its components.",
    }),
  });

  addPageSettingRoutes(area, deps);
  addPageMailRoutes(area, deps);

  area.confirmation("/:id/slugs/:slug/release", {
    role: "admin",
    show({ params: { id, slug } }) {
      const page = getPage(ctx.db, id);
      if (!listOldSlugs(ctx.db, page).some((old) => old.slug === slug)) {
        throw new ShowInstead({ path: pageTabPath(id, "address") });
      }
      return {
        title: `Release “${slug}”`,
        button: "Release slug",
        isDanger: true,
        cancelHref: pageTabPath(id, "address"),
        dialog: (
          <p>
            Links to <code>/status/{slug}</code> and API requests for this slug will get “not
            found”, and any page can use the slug.
          </p>
        ),
      };
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
    role: "admin",
    run(tx, { params: { id } }, actor) {
      if (getPage(tx, id).isDefault) return false;
      updatePage(ctx, tx, id, composed({ default: true }), actor);
      return true;
    },
    done: (isChanged, { params }) => ({
      path: pageTabPath(params.id, "visibility"),
      text: isChanged ? "This page is now the default page." : undefined,
    }),
  });

  area.form("/:id/delete", {
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

interface AtPage extends ScreenRequest {
  params: { id: string };
}

/** States of the forms of one screen. A form without a state shows the stored values. */
interface LookStates {
  look?: StateOf<typeof LOOK_FORM>;
  logo?: StateOf<typeof LOGO_FORM>;
}
interface AddressStates {
  slug?: StateOf<typeof SLUG_FORM>;
  domains?: StateOf<typeof DOMAINS_FORM>;
}

/** Adds the screens of one page: its facts for every role, and its settings for admins. */
function addPageSettingRoutes(area: Area, { ctx }: AdminDependencies): void {
  const backTo =
    (tab: PageTab) =>
    ({ params }: AtPage) =>
      pageTabPath(params.id, tab);

  function load(reader: Reader, { params }: AtPage) {
    const page = getPage(reader, params.id);
    return { resource: pageResource(page), version: page.version, context: { page } };
  }

  function update(tx: Tx, changes: Partial<PageInput>, actor: Actor, { params }: AtPage): void {
    const body = validate(PartialPageInput, changes, addPageErrors);
    updatePage(ctx, tx, params.id, body, actor);
  }

  const edit = { load, update, role: "admin" } as const;

  function tabScreen(
    at: AtPage,
    page: PageRow,
    tab: PageTab,
    children: Screen["children"],
  ): Screen {
    const { role } = sessionOf(at.requestContext).user;
    return {
      title: pageTabTitle(page, tab),
      children: (
        <PageFrame page={page} tab={tab} role={role}>
          {children}
        </PageFrame>
      ),
    };
  }

  function lookScreen(at: AtPage, page: PageRow, states: LookStates): Screen {
    const look =
      states.look ?? LOOK_FORM.state(LOOK_FORM.stored(pageResource(page)), {}, pageVersion(page));
    const logo = states.logo ?? LOGO_FORM.state(LOGO_FORM.initial(), {});
    return tabScreen(at, page, "look", <Look {...{ page, look, logo }} />);
  }

  function addressScreen(at: AtPage, page: PageRow, states: AddressStates): Screen {
    const resource = pageResource(page);
    const hidden = pageVersion(page);
    const { slug = SLUG_FORM.state(SLUG_FORM.stored(resource), {}, hidden) } = states;
    const { domains = DOMAINS_FORM.state(DOMAINS_FORM.stored(resource), {}, hidden) } = states;
    const oldSlugs = listOldSlugs(ctx.db, page);
    return tabScreen(at, page, "address", <Address {...{ page, oldSlugs, slug, domains }} />);
  }

  function shareScreen(at: AtPage, page: PageRow, state?: StateOf<typeof COMPAT_FORM>): Screen {
    const canManage = roleAllows(sessionOf(at.requestContext).user.role, "admin");
    const compat =
      state ?? COMPAT_FORM.state(COMPAT_FORM.stored(pageResource(page)), {}, pageVersion(page));
    const share = { page, url: pageUrl(ctx.baseUrl, page), canManage, compat };
    return tabScreen(at, page, "share", <Share {...share} />);
  }

  area.screen("/:id", (at) => {
    const page = getPage(ctx.db, at.params.id);
    const facts = { page, oldSlugs: listOldSlugs(ctx.db, page), now: ctx.clock.now() };
    return tabScreen(at, page, "overview", <PageFacts {...facts} />);
  });

  area.screen("/:id/share", (at) => shareScreen(at, getPage(ctx.db, at.params.id)));

  area.editForm("/:id/compat", {
    ...edit,
    form: COMPAT_FORM,
    back: backTo("share"),
    show: (state, at) => shareScreen(at, state.context.page, state),
    done: (at) => ({ path: backTo("share")(at), text: "The clients were changed." }),
  });

  area.editForm("/:id/general", {
    ...edit,
    form: GENERAL_FORM,
    show: (state, at) =>
      tabScreen(
        at,
        state.context.page,
        "general",
        <General page={state.context.page} state={state} />,
      ),
    done: (at) => ({ path: backTo("general")(at), text: "The page was changed." }),
  });

  area.editForm("/:id/look", {
    ...edit,
    form: LOOK_FORM,
    show: (look, at) => lookScreen(at, look.context.page, { look }),
    done: (at) => ({ path: backTo("look")(at), text: "The appearance was changed." }),
  });

  area.editForm("/:id/logo", {
    role: "admin",
    takesFiles: true,
    form: LOGO_FORM,
    back: backTo("look"),
    load: (reader, { params }) => ({
      resource: { logo: null },
      version: null,
      context: { page: getPage(reader, params.id) },
    }),
    show: (logo, at) => lookScreen(at, logo.context.page, { logo }),
    update(tx, { logo: bytes }, actor, { params }) {
      if (bytes) putLogo(ctx, tx, params.id, { bytes }, actor);
    },
    done: (at) => ({ path: backTo("look")(at), text: "The logo was changed." }),
  });

  area.action("/:id/logo/remove", {
    role: "admin",
    run(tx, { params: { id } }, actor) {
      const { logo } = getPage(tx, id);
      if (logo !== null) deleteLogo(ctx, tx, id, actor);
      return logo !== null;
    },
    done: (hadLogo, at) => ({
      path: backTo("look")(at),
      text: hadLogo ? "The logo was removed." : undefined,
    }),
  });

  area.editForm("/:id/visibility", {
    ...edit,
    form: VISIBILITY_FORM,
    show: (state, at) =>
      tabScreen(
        at,
        state.context.page,
        "visibility",
        <Visibility page={state.context.page} state={state} />,
      ),
    done: (at, { visibility }) => ({
      path: backTo("visibility")(at),
      text:
        visibility === "private"
          ? "The page is now private. Only signed-in users can see it."
          : "The page is now public. Everyone can see it.",
    }),
  });

  area.editForm("/:id/address", {
    ...edit,
    form: SLUG_FORM,
    show: (slug, at) => addressScreen(at, slug.context.page, { slug }),
    update(tx, changes, actor, at) {
      const taken = takenSlugErrors(tx, changes.slug ?? "", at.params.id);
      if (taken.length > 0) throw invalidFields(taken);
      update(tx, changes, actor, at);
    },
    done: (at) => ({
      path: backTo("address")(at),
      text: "The slug was changed. The earlier address redirects to the new one.",
    }),
  });

  area.editForm("/:id/domains", {
    ...edit,
    form: DOMAINS_FORM,
    back: backTo("address"),
    conflictField: "custom_domains",
    show: (domains, at) => addressScreen(at, domains.context.page, { domains }),
    update(tx, changes, actor, at) {
      update(tx, changes, actor, at);
      const errors = ownHostErrors(changes.custom_domains ?? [], at.request.url);
      if (errors.length > 0) throw invalidFields(errors);
    },
    done: (at) => ({ path: backTo("address")(at), text: "The custom domains were changed." }),
  });
}
