/* Screens of pages: routes of the list, to create and to delete a page, then what they show. `settings.tsx` has one page. */
import { composed, examine, validate } from "../../../base/validation";
import { type Role, roleAllows } from "../../../base/actor";
import { type FieldError, invalidFields } from "../../../base/errors";
import { toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Notice } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { DialogForm } from "../../../ui/form";
import { FormFields } from "../../../ui/forms/fields";
import type { StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { FirstPage, readPages } from "../../../ui/frame/page-choice";
import { componentsOfPagePath, pagePath, PAGES_PATH } from "../../../ui/frame/paths";
import { crumbsAbove, crumbsTo } from "../../../ui/frame/places";
import { Icon } from "../../../ui/icons";
import { CellNote, type DataColumn, RowLink } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { RecreatedByFile } from "../../../ui/screens/form-screen";
import { OrderedTable } from "../../../ui/screens/list";
import { ShowInstead } from "../../../ui/screens/routes";
import { RelativeTime } from "../../../ui/times";
import { createComponent } from "../../components/components";
import { ComponentInput } from "../../components/wire";
import { nextStepLink } from "../../overview/screens/first-steps";
import { type Belongings, belongingsOf, deletePage } from "../deletion";
import {
  createPage,
  findNextDefaultPage,
  getPage,
  listOldSlugs,
  releaseSlug,
  updatePage,
  validatePageInput,
} from "../pages";
import type { PageRow } from "../store";
import { PageInput } from "../wire";
import { addPageAccessRoutes } from "./access";
import { DELETE_FORM, NEW_PAGE_FORM } from "./forms";
import { addPageLookRoutes } from "./look";
import { addPageSettingRoutes, PageChips, takenSlugErrors } from "./settings";

/** `/admin/pages`: every role may read, admins create and change pages. */
export function pageAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, PAGES_PATH, "viewer");

  area.screen("", ({ query, requestContext }) => {
    const { role } = sessionOf(requestContext).user;
    const list = { pages: readPages(ctx.db), role, order: query["sort"], now: ctx.clock.now() };
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
      crumbs: crumbsTo(PAGES_PATH),
      above: context.hasSample ? (
        <Notice tone="maint" title="The sample page will be deleted">
          Creating your first page deletes the sample page with everything on it.
        </Notice>
      ) : null,
      button: "Create page",
    }),
    submit(tx, { components: names = [], ...body }, actor) {
      const errors = [...newPageErrors(tx, body), ...nameErrors(names)];
      if (errors.length > 0) throw invalidFields(errors);
      const page = createPage(ctx, tx, validate(PageInput, body), actor);
      for (const [position, name] of names.entries()) {
        const placement = { position, groupId: null, managedBy: null };
        createComponent(ctx, tx, page, validate(ComponentInput, { name }), placement, actor);
      }
      return page.id;
    },
    done: (id, { requestContext }) => ({
      path: componentsOfPagePath(getPage(ctx.db, id).slug),
      text: "The page was created.",
      link: nextStepLink(ctx.db, requestContext),
    }),
  });

  addPageSettingRoutes(area, deps);
  addPageLookRoutes(area, deps);
  addPageAccessRoutes(area, deps);

  area.confirmation("/:id/slugs/:slug/release", {
    role: "admin",
    show({ params: { id, slug } }) {
      const page = getPage(ctx.db, id);
      if (!listOldSlugs(ctx.db, page).some((old) => old.slug === slug)) {
        throw new ShowInstead({ path: pagePath(id, "address") });
      }
      return {
        title: `Release “${slug}”`,
        button: "Release slug",
        isDanger: true,
        cancelHref: pagePath(id, "address"),
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
      path: pagePath(id, "address"),
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
      path: pagePath(params.id, "access"),
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

interface PageListProps {
  pages: readonly PageRow[];
  role: Role;
  /** Query parameter `sort`. */
  order: string | undefined;
  /** Unix ms. */
  now: number;
}

/** `/admin/pages`: all status pages. */
function PageList({ pages, role, order, now }: PageListProps) {
  const create = roleAllows(role, "admin") ? (
    <ButtonLink href={`${PAGES_PATH}/new`} kind="primary">
      <Icon name="plus" />
      Create page
    </ButtonLink>
  ) : undefined;
  if (pages.length === 0) {
    return (
      <>
        <PageHead title="Pages" crumbs={crumbsAbove(PAGES_PATH)} isList />
        <FirstPage role={role} />
      </>
    );
  }
  return (
    <>
      <PageHead title="Pages" crumbs={crumbsAbove(PAGES_PATH)} actions={create} isList />
      <OrderedTable
        home={PAGES_PATH}
        order={order}
        usual="Default page first"
        valuesBy={ORDERS}
        caption="Status pages"
        columns={columnsAt(now)}
        entries={pages}
      />
    </>
  );
}

/** Values by which pages can be ordered. */
const ORDERS: Readonly<Record<string, (page: PageRow) => string | number | null>> = {
  name: ({ name }) => name,
  domains: ({ customDomains }) => customDomains[0] ?? null,
  changed: ({ contentChangedAt }) => contentChangedAt,
};

function columnsAt(now: number): DataColumn<PageRow>[] {
  return [
    {
      label: "Page",
      sort: { key: "name" },
      cell: ({ id, name, slug }) => (
        <>
          <RowLink href={pagePath(id)}>{name}</RowLink>
          <CellNote>/status/{slug}</CellNote>
        </>
      ),
    },
    { label: "Kind", cell: (page) => <PageChips page={page} /> },
    {
      label: "Domains",
      sort: { key: "domains" },
      cell: ({ customDomains }) =>
        customDomains.length > 0 ? customDomains.join(", ") : <span class="quiet-text">None</span>,
    },
    {
      label: "Changed",
      sort: { key: "changed", kind: "time" },
      cell: ({ contentChangedAt }) => <RelativeTime at={toIso(contentChangedAt)} now={now} />,
    },
  ];
}

/** Returns every error of a new page, whose slug may be missing or taken. */
function newPageErrors(reader: Reader, input: PageInput): FieldError[] {
  const errors = input.slug === "" ? missingSlugErrors(input) : validatePageInput(input);
  return errors.length > 0 ? errors : takenSlugErrors(reader, input.slug);
}

/** Returns the errors of the names of new components. */
function nameErrors(names: readonly string[]): FieldError[] {
  return names.flatMap((name, index) =>
    examine(ComponentInput, { name }).errors.all.map(({ detail }) => ({
      pointer: `#/components/${index}`,
      detail: `have an invalid name, number ${index + 1}: it ${detail}`,
    })),
  );
}

/** Returns the errors of a form without a slug whose name does not yield one. */
function missingSlugErrors(input: PageInput): FieldError[] {
  const others = validatePageInput(input).filter(({ pointer }) => pointer !== "#/slug");
  // Another name may make a slug.
  if (others.some(({ pointer }) => pointer === "#/name")) return others;
  const detail = "must be entered, such as status-page, because none can be made from this name";
  return [...others, { pointer: "#/slug", detail }];
}

/** Asks before a page is deleted. The user must type the slug, which prevents mistakes. */
function DeletePage(props: {
  title: string;
  page: PageRow;
  belongings: Belongings;
  /** Page that becomes the default page instead; undefined if there is no other. */
  heir: PageRow | undefined;
  state: StateOf<typeof DELETE_FORM>;
}) {
  const { title, page, belongings, heir, state } = props;
  const consequences = consequencesOf(belongings);
  return (
    <DialogForm
      title={title}
      action={pagePath(page.id, "delete")}
      hidden={state.hidden}
      button="Delete page"
      isDanger
      cancelHref={pagePath(page.id)}
    >
      <p>
        The page is deleted with its components, incidents, maintenance, feeds and badges. Links to
        them will get “not found”. Other pages can use its slugs. This cannot be undone.
      </p>
      {consequences.length === 0 ? null : (
        <>
          <p>Also affected:</p>
          <ul class="plain-list">
            {consequences.map((consequence) => (
              <li key={consequence}>{consequence}</li>
            ))}
          </ul>
        </>
      )}
      {page.isDefault ? (
        <p>
          This is the default page.{" "}
          {heir
            ? `“${heir.name}” becomes the default page.${heir.visibility === "public" ? "" : " It is private, so visitors see no page at /."}`
            : "There is no other page, so visitors see no page at /."}
        </p>
      ) : null}
      {page.managedBy === "apply" ? <RecreatedByFile what="page" /> : null}
      <FormFields form={DELETE_FORM} state={state} />
    </DialogForm>
  );
}

/** Returns one line for each kind of object that ends with a page, with its count; empty if nothing does. */
function consequencesOf(belongings: Belongings): string[] {
  const { openIncidents, pendingMaintenance, idleMonitors } = belongings;
  const { webhooks, templates, schedules } = belongings;
  const counts: [what: string, count: number, outcome: string][] = [
    ["Planned maintenance", pendingMaintenance, "cancelled"],
    ["Maintenance schedules", schedules.length, "deleted"],
    ["Open incidents", openIncidents, "deleted"],
    ["Monitors without another page", idleMonitors.length, "paused"],
    ["Webhooks for this page only", webhooks.length, "deleted"],
    ["Incident templates for this page only", templates.length, "deleted"],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([what, count, outcome]) => `${what}: ${count.toLocaleString("en")} (${outcome})`);
}
