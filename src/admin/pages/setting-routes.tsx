import type { Reader, Tx } from "../../db/statements";
import { type Actor, roleAllows } from "../../base/actor";
import { invalidFields } from "../../base/errors";
import { deleteLogo, putLogo } from "../../features/pages/logo";
import { getPage, updatePage } from "../../features/pages/service";
import { listOldSlugs } from "../../features/pages/slugs";
import type { PageInput } from "../../features/pages/model";
import type { PageRow } from "../../features/pages/store";
import { pageUrl } from "../../features/pages/address";
import { sessionOf } from "../../http/request-context";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { StateOf } from "../../ui/forms/form";
import type { Screen, ScreenRequest } from "../../ui/frame/render";
import type { Area } from "../../ui/screens/area";
import { PageFacts } from "./detail";
import {
  COMPAT_FORM,
  DOMAINS_FORM,
  GENERAL_FORM,
  LOGO_FORM,
  LOOK_FORM,
  pageResource,
  pageVersion,
  SLUG_FORM,
  VISIBILITY_FORM,
} from "./forms";
import { PageFrame, type PageTab, pageTabPath, pageTabTitle } from "./frame";
import { ownHostErrors, takenSlugErrors } from "./page-slugs";
import { Share } from "./share";
import { Address, General, Look, Visibility } from "./settings";

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
export function addPageSettingRoutes(area: Area, { ctx }: AdminDependencies): void {
  const backTo =
    (tab: PageTab) =>
    ({ params }: AtPage) =>
      pageTabPath(params.id, tab);

  function load(reader: Reader, { params }: AtPage) {
    const page = getPage(reader, params.id);
    return { resource: pageResource(page), version: page.version, context: { page } };
  }

  function update(tx: Tx, changes: Partial<PageInput>, actor: Actor, { params }: AtPage): void {
    updatePage(ctx, tx, params.id, changes, actor);
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

  area.screen("/:id", "Show a status page", (at) => {
    const page = getPage(ctx.db, at.params.id);
    const facts = { page, oldSlugs: listOldSlugs(ctx.db, page), now: ctx.clock.now() };
    return tabScreen(at, page, "overview", <PageFacts {...facts} />);
  });

  area.screen("/:id/share", "Show code that shares a page", (at) =>
    shareScreen(at, getPage(ctx.db, at.params.id)),
  );

  area.editForm("/:id/compat", {
    ...edit,
    showSummary: "Redirect to the code that shares a page",
    summary: "Change the clients of other products that can read a page",
    form: COMPAT_FORM,
    back: backTo("share"),
    show: (state, at) => shareScreen(at, state.context.page, state),
    done: (at) => ({ path: backTo("share")(at), text: "The clients were changed." }),
  });

  area.editForm("/:id/general", {
    ...edit,
    showSummary: "Show the form for a page's general settings",
    summary: "Change a page's general settings",
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
    showSummary: "Show the forms for a page's appearance",
    summary: "Change a page's appearance",
    form: LOOK_FORM,
    show: (look, at) => lookScreen(at, look.context.page, { look }),
    done: (at) => ({ path: backTo("look")(at), text: "The appearance was changed." }),
  });

  area.editForm("/:id/logo", {
    showSummary: "Redirect to a page's appearance",
    summary: "Upload a page's logo",
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
    summary: "Remove a page's logo",
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
    showSummary: "Show the form for a page's visibility",
    summary: "Change a page's visibility",
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
    showSummary: "Show the forms for a page's address",
    summary: "Change a page's slug",
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
    showSummary: "Redirect to a page's address",
    summary: "Change a page's custom domains",
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
