import type { Actor } from "../../../base/actor";
import { conflict, invalidFields, notFound } from "../../../base/errors";
import { plural } from "../../../base/text";
import { validate } from "../../../base/validation";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import type { Form as SentForm } from "../../../http/form-body";
import { sessionOf } from "../../../http/request-context";
import { STATUS_WORDS, StatusLabel } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { choosePage, NoPageYet, readPages } from "../../../ui/frame/page-choice";
import {
  componentPath,
  COMPONENTS_PATH,
  componentsOfPagePath,
  groupPath,
} from "../../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { type Area, createArea } from "../../../ui/screens/area";
import { ManagedByFile } from "../../../ui/screens/form-screen";
import { type At, ShowInstead } from "../../../ui/screens/routes";
import { findPageBySlugOrId, getPage } from "../../pages/pages";
import type { PageRow } from "../../pages/store";
import { listChanges } from "../cause-store";
import {
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  getComponentRow,
  getGroupRow,
  nextPosition,
  orderComponents,
  updateComponent,
  updateGroup,
} from "../components";
import { setManualStatuses } from "../statuses";
import { type ComponentRow, listComponentsOfPage, listGroups } from "../store";
import {
  ComponentInput,
  GroupInput,
  PartialComponentInput,
  PartialGroupInput,
  presentChange,
  UpdateComponentBody,
} from "../wire";
import { ComponentDetail, readComponentView } from "./detail";
import {
  COMPONENT_FORM,
  componentResource,
  GROUP_FORM,
  NEW_COMPONENT_FORM,
  NEW_GROUP_FORM,
  requireRef,
  SEVERAL_FORM,
  STATUS_FORM,
} from "./forms";
import { ComponentList, type Direction, moved, orderOf, readListing, readSequence } from "./list";
import {
  CauseList,
  componentCrumbs,
  describeCause,
  effectiveCauses,
  type NamedCause,
  otherCauses,
  readCauses,
} from "./view";

const OUTDATED =
  "The order was not saved, because components were added or removed since you opened this page. The list below is up to date.";

/** `/admin/components`: every role may read, editors set statuses, admins change the list. */
export function componentAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, COMPONENTS_PATH, "viewer");

  function list(
    at: ScreenRequest,
    slugOrId: string | undefined,
    { search = "", rejection }: { search?: string | undefined; rejection?: string } = {},
  ): Screen {
    const { role } = sessionOf(at.requestContext).user;
    const title = "Components";
    const page = readPage(ctx.db, slugOrId);
    if (!page) return { title, children: <NoPageYet {...{ title, role }} /> };
    const pages = readPages(ctx.db);
    const listing = readListing(ctx.db, page.id);
    return {
      title,
      children: <ComponentList {...{ page, pages, listing, role, search, rejection }} />,
    };
  }

  /** Moves a component or group within the stored order, even if the user saw an older one. */
  function move(tx: Tx, sent: SentForm, row: Movable, actor: Actor): Moved {
    const direction = readDirection(sent);
    const sequence = moved(readSequence(tx, row.pageId), row.id, direction);
    const isChanged = orderComponents(ctx, tx, row.pageId, orderOf(sequence), actor);
    return { row, direction, isChanged };
  }

  function movedTo({ row, direction, isChanged }: Moved) {
    const path = listPathOf(getPage(ctx.db, row.pageId).slug, row.id);
    return { path, text: isChanged ? `“${row.name}” was moved ${direction}.` : undefined };
  }

  area.screen("", (at) => list(at, at.query["page"], { search: at.query["q"]?.trim() }));

  area.screen("/order", () => ({ path: COMPONENTS_PATH }));

  area.action("/order", {
    role: "admin",
    run(tx, { sent }, actor) {
      const page = readPage(tx, sent.text("page"));
      if (!page) return { path: COMPONENTS_PATH, isChanged: false };
      const sequence = sent.all("item");
      const stored = new Set(readSequence(tx, page.id));
      if (sequence.length !== stored.size || sequence.some((id) => !stored.has(id))) {
        throw conflict(OUTDATED);
      }
      const isChanged = orderComponents(ctx, tx, page.id, orderOf(sequence), actor);
      return { path: componentsOfPagePath(page.slug), isChanged };
    },
    done: ({ path, isChanged }) => ({
      path,
      text: isChanged ? "The order was changed." : undefined,
    }),
    showConflict: (message, at) => list(at, at.sent.text("page"), { rejection: message }),
  });

  area.action("/:id/move", {
    role: "admin",
    run: (tx, { params, sent }, actor) => move(tx, sent, getComponentRow(tx, params.id), actor),
    done: movedTo,
  });

  area.action("/groups/:id/move", {
    role: "admin",
    run: (tx, { params, sent }, actor) => move(tx, sent, getGroupRow(tx, params.id), actor),
    done: movedTo,
  });

  addComponentRoutes(area, deps);
  return area.routes;
}

interface Movable {
  id: string;
  name: string;
  pageId: string;
}

interface Moved {
  row: Movable;
  direction: Direction;
  isChanged: boolean;
}

function readDirection(sent: SentForm): Direction {
  const text = sent.text("direction");
  if (text === "up" || text === "down") return text;
  throw invalidFields([{ pointer: "#/direction", detail: "must be up or down" }]);
}

const CHANGES_SHOWN = 10;

/** Adds the routes of one component: its creation, settings, status and deletion. */
function addComponentRoutes(area: Area, { ctx }: AdminDependencies): void {
  const slugOf = (componentId: string) =>
    getPage(ctx.db, getComponentRow(ctx.db, componentId).pageId).slug;

  area.form("/new", {
    role: "admin",
    form: NEW_COMPONENT_FORM,
    initial: ({ query }) => ({ group_id: query["group"] ?? "" }),
    load(reader, at) {
      const { page } = readPageOfNew(reader, at);
      return { page, groups: listGroups(reader, { pageId: page.id }) };
    },
    show(state) {
      const { page } = state.context;
      const crumbs = componentCrumbs(page);
      return { title: "Add component", crumbs, hidden: { page: page.id }, button: "Add component" };
    },
    submit(tx, { group_id: groupId = null, ...input }, actor, _, { page }) {
      requireRef(input, "checkout-api");
      const position = nextPosition(listComponentsOfPage(tx, { pageId: page.id }));
      const placement = { position, groupId, managedBy: null };
      return createComponent(ctx, tx, page, validate(ComponentInput, input), placement, actor).id;
    },
    done: (id, at, { name }) => ({
      path: listPathOf(readPageOfNew(ctx.db, at).page.slug, id),
      text: `“${name.trim()}” was added.`,
    }),
  });

  addSeveral(area, ctx);

  area.editForm("/:id", {
    role: "admin",
    readRole: "viewer",
    form: COMPONENT_FORM,
    load(reader, { params }) {
      const component = getComponentRow(reader, params.id);
      const groups = listGroups(reader, { pageId: component.pageId });
      const resource = componentResource(component);
      return { resource, version: component.version, context: { component, groups } };
    },
    show(state, { requestContext }) {
      const { component } = state.context;
      const newest = { componentId: component.id, before: Number.MAX_SAFE_INTEGER };
      const changes = listChanges(ctx.db, { ...newest, limit: CHANGES_SHOWN }).map(presentChange);
      const page = getPage(ctx.db, component.pageId);
      const now = ctx.clock.now();
      const detail = {
        component,
        page,
        view: readComponentView(ctx.db, component, page, now),
        causes: readCauses(ctx.db, component),
        changes,
        state,
        role: sessionOf(requestContext).user.role,
        now,
      };
      return { title: component.name, children: <ComponentDetail {...detail} /> };
    },
    update(tx, { group_id: groupId, ...changes }, actor, { params }, { component }) {
      // A component that changes its group becomes the last one there.
      const siblings = () => listComponentsOfPage(tx, { pageId: component.pageId });
      const place = groupId === undefined ? {} : { groupId, position: nextPosition(siblings()) };
      updateComponent(ctx, tx, params.id, validate(PartialComponentInput, changes), actor, place);
    },
    done: ({ params }) => ({ path: componentPath(params.id), text: "The component was changed." }),
  });

  area.editForm("/:id/status", {
    role: "editor",
    form: STATUS_FORM,
    load(reader, { params }) {
      const component = getComponentRow(reader, params.id);
      const resource = { status: component.baselineStatus, reason: null };
      return { resource, version: null, context: { component } };
    },
    show(state) {
      const { component } = state.context;
      return {
        title: `Set status of “${component.name}”`,
        button: "Set status",
        dialog: <OtherCauses causes={otherCauses(readCauses(ctx.db, component))} />,
        cancelHref: listPathOf(slugOf(component.id), component.id),
      };
    },
    update(tx, changes, actor, { params }, { component }) {
      const { baselineStatus: before } = component;
      const { status, reason = null } = validate(UpdateComponentBody, {
        status: before,
        ...changes,
      });
      const changeReason = { source: "manual" as const, actor, reason };
      setManualStatuses(ctx, tx, new Map([[params.id, status]]), changeReason);
      return status !== before;
    },
    done({ params: { id } }) {
      const after = getComponentRow(ctx.db, id);
      return { path: listPathOf(slugOf(id), id), text: textOf(after, readCauses(ctx.db, after)) };
    },
  });

  area.deletion({
    noun: "component",
    role: "admin",
    find(reader, id) {
      const component = getComponentRow(reader, id);
      getPage(reader, component.pageId); // Throws `not_found` for a deleted page.
      return component;
    },
    nameOf: ({ name }) => name,
    consequences: () => (
      <p>
        The component and its uptime history are removed from the page and the API at once. Past
        incidents still name the component. This cannot be undone.
      </p>
    ),
    remove: (tx, { id }, actor) => deleteComponent(ctx, tx, id, actor),
    subjectOf: ({ pageId }) => pageId,
    listOf: (pageId) => componentsOfPagePath(getPage(ctx.db, pageId).slug),
  });
}

/** Adds the form that creates several components of a page in one transaction. */
function addSeveral(area: Area, ctx: Ctx): void {
  area.form("/several", {
    role: "admin",
    form: SEVERAL_FORM,
    initial: ({ query }) => ({ group_id: query["group"] ?? "" }),
    load(reader, at) {
      const { page } = readPageOfNew(reader, at);
      return { page, groups: listGroups(reader, { pageId: page.id }) };
    },
    show(state) {
      const { page } = state.context;
      return {
        title: "Add several components",
        crumbs: componentCrumbs(page),
        hidden: { page: page.id },
        button: "Add components",
      };
    },
    submit(tx, { name: names = [], group_id: groupId = null }, actor, _, { page }) {
      const first = nextPosition(listComponentsOfPage(tx, { pageId: page.id }));
      const ids = names.map((name, index) => {
        const placement = { position: first + index, groupId, managedBy: null };
        return createComponent(ctx, tx, page, validate(ComponentInput, { name }), placement, actor)
          .id;
      });
      return ids[0] ?? page.id;
    },
    done: (id, at, values) => {
      const count = values.name.split("\n").filter((line) => line.trim() !== "").length;
      const path = listPathOf(readPageOfNew(ctx.db, at).page.slug, id);
      return { path, text: `${plural(count, "component")} ${count === 1 ? "was" : "were"} added.` };
    },
  });
}

/**
 * Returns the page with a slug, or the default page without one; undefined if no page exists.
 * Throws `not_found` for an unknown slug.
 */
function readPage(reader: Reader, slugOrId: string | undefined): PageRow | undefined {
  if (slugOrId === undefined) return choosePage(readPages(reader), undefined);
  const page = findPageBySlugOrId(reader, slugOrId);
  if (!page) throw notFound("page");
  return page;
}

/** Reads the page that a new component or group is added to. Redirects to the list without a page. */
function readPageOfNew(
  reader: Reader,
  { sent, query }: Pick<At<string>, "sent" | "query">,
): { page: PageRow } {
  const page = readPage(reader, sent?.text("page") ?? query["page"]);
  if (!page) throw new ShowInstead({ path: COMPONENTS_PATH });
  return { page };
}

/** Returns the path of the list of a page's components, with the row of a component or group as anchor. */
function listPathOf(slug: string, id: string): string {
  return `${componentsOfPagePath(slug)}#${encodeURIComponent(id)}`;
}

/** Returns the confirmation, which names the cause if a worse status is shown instead. */
function textOf(row: ComponentRow, causes: readonly NamedCause[]): string {
  const set = inSentence(STATUS_WORDS[row.baselineStatus]);
  if (row.status === row.baselineStatus) return `The status of “${row.name}” is now ${set}.`;
  const [effective] = effectiveCauses(row, causes);
  const causeText = effective ? ` ${describeCause(effective)}` : "";
  const shown = inSentence(STATUS_WORDS[row.status]);
  return `The status of “${row.name}” was set to ${set}. The page still shows ${shown}${causeText}.`;
}

function inSentence(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}

/** Causes other than the manual status, which the form sets. */
function OtherCauses({ causes }: { causes: readonly NamedCause[] }) {
  if (causes.length === 0) {
    return (
      <p>The page shows this status unless an incident, maintenance or monitor sets a worse one.</p>
    );
  }
  return (
    <div>
      <p>The page shows the worst of this status and the following causes:</p>
      <ul class="plain-list">
        {causes.map((each) => (
          <li key={each.cause.id}>
            <StatusLabel status={each.cause.status} /> <CauseList causes={[each]} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Routes of groups of components, for admins. */
export function groupAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, `${COMPONENTS_PATH}/groups`, "admin");

  const slugOf = (groupId: string) => getPage(ctx.db, getGroupRow(ctx.db, groupId).pageId).slug;

  area.form("/new", {
    form: NEW_GROUP_FORM,
    load: readPageOfNew,
    show(state) {
      const { page } = state.context;
      const crumbs = componentCrumbs(page);
      return { title: "Add group", crumbs, hidden: { page: page.id }, button: "Add group" };
    },
    submit(tx, body, actor, _, { page }) {
      requireRef(body, "payments");
      const position = nextPosition(listGroups(tx, { pageId: page.id }));
      return createGroup(
        ctx,
        tx,
        page,
        validate(GroupInput, body),
        { position, managedBy: null },
        actor,
      ).id;
    },
    done: (id, at, { name }) => ({
      path: listPathOf(readPageOfNew(ctx.db, at).page.slug, id),
      text: `The group “${name.trim()}” was added.`,
    }),
  });

  area.editForm("/:id", {
    form: GROUP_FORM,
    load(reader, { params }) {
      const group = getGroupRow(reader, params.id);
      const context = { group, page: getPage(reader, group.pageId) };
      return { resource: group, version: group.version, context };
    },
    show(state) {
      const { group, page } = state.context;
      return {
        title: group.name,
        crumbs: componentCrumbs(page),
        actions: (
          <ButtonLink href={groupPath(group.id, "delete")} kind="danger" dialog>
            Delete
          </ButtonLink>
        ),
        above: group.managedBy === "apply" ? <ManagedByFile what="group" /> : null,
        button: "Save changes",
      };
    },
    update(tx, changes, actor, { params }) {
      updateGroup(ctx, tx, params.id, validate(PartialGroupInput, changes), actor);
    },
    done: ({ params }) => ({
      path: listPathOf(slugOf(params.id), params.id),
      text: "The group was changed.",
    }),
  });

  area.deletion({
    noun: "group",
    find(reader, id) {
      const group = getGroupRow(reader, id);
      getPage(reader, group.pageId); // Throws `not_found` for a deleted page.
      return group;
    },
    nameOf: ({ name }) => name,
    consequences: () => (
      <p>The group's components stay on the page, without a group. This cannot be undone.</p>
    ),
    remove: (tx, { id }, actor) => deleteGroup(ctx, tx, id, actor),
    subjectOf: ({ pageId }) => pageId,
    listOf: (pageId) => componentsOfPagePath(getPage(ctx.db, pageId).slug),
    textOf: (_, name) =>
      `${name === null ? "The group" : `The group “${name}”`} was deleted. Its components are now without a group.`,
  });

  return area.routes;
}
