/* Screens of components: routes of the list, its order and each component, then the list. Groups are in `groups.tsx`. */
import { type Actor, type Role, roleAllows } from "../../../base/actor";
import { conflict, invalidFields, notFound } from "../../../base/errors";
import { plural } from "../../../base/text";
import { validate } from "../../../base/validation";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import type { Form as SentForm } from "../../../http/form-body";
import { sessionOf } from "../../../http/request-context";
import { EmptyState, FormNotice, STATUS_WORDS, StatusLabel } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { choosePage, labelAmong, NoPageYet, readPages } from "../../../ui/frame/page-choice";
import {
  componentPath,
  COMPONENTS_PATH,
  componentsOfPagePath,
  groupPath,
  newComponentPath,
  PAGES_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { FilterSelect, ListToolbar, OrderList, OrderPart, OrderRow } from "../../../ui/list";
import { Icon } from "../../../ui/icons";
import { HeadLinks, PageHead } from "../../../ui/navigation";
import { type Area, createArea } from "../../../ui/screens/area";
import { NoMatch } from "../../../ui/screens/list";
import { type At, ShowInstead } from "../../../ui/screens/routes";
import { nextStepLink } from "../../overview/screens/first-steps";
import { findPageBySlugOrId, getPage } from "../../pages/pages";
import type { PageRow } from "../../pages/store";
import { listChanges, listNamedCausesOfPage } from "../cause-store";
import {
  type ComponentOrder,
  createComponent,
  deleteComponent,
  getComponentRow,
  getGroupRow,
  nextPosition,
  orderComponents,
  updateComponent,
} from "../components";
import { setManualStatuses } from "../statuses";
import { type ComponentRow, type GroupRow, listComponentsOfPage, listGroups } from "../store";
import { ComponentInput, PartialComponentInput, presentChange, UpdateComponentBody } from "../wire";
import { ComponentDetail, readComponentView } from "./detail";
import {
  COMPONENT_FORM,
  componentResource,
  NEW_COMPONENT_FORM,
  requireRef,
  SEVERAL_FORM,
  STATUS_FORM,
} from "./forms";
import {
  CauseList,
  componentCrumbs,
  ComponentTags,
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
      link: nextStepLink(ctx.db, at.requestContext),
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
      const text = `${plural(count, "component")} ${count === 1 ? "was" : "were"} added.`;
      return { path, text, link: nextStepLink(ctx.db, at.requestContext) };
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
export function readPageOfNew(
  reader: Reader,
  { sent, query }: Pick<At<string>, "sent" | "query">,
): { page: PageRow } {
  const page = readPage(reader, sent?.text("page") ?? query["page"]);
  if (!page) throw new ShowInstead({ path: COMPONENTS_PATH });
  return { page };
}

/** Returns the path of the list of a page's components, with the row of a component or group as anchor. */
export function listPathOf(slug: string, id: string): string {
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

/** Groups and components of one page, in page order. */
interface ComponentListing {
  groups: readonly GroupRow[];
  components: readonly ComponentRow[];
  /** Open causes by component id; components without causes are missing. */
  causes: ReadonlyMap<string, readonly NamedCause[]>;
}

/** Returns the groups and components of a page, in page order, with their open causes. */
function readListing(reader: Reader, pageId: string): ComponentListing {
  return {
    groups: listGroups(reader, { pageId }),
    components: listComponentsOfPage(reader, { pageId }),
    causes: Map.groupBy(
      listNamedCausesOfPage(reader, { pageId }),
      ({ cause }) => cause.componentId,
    ),
  };
}

interface ComponentListProps {
  pages: readonly PageRow[];
  page: PageRow;
  listing: ComponentListing;
  role: Role;
  /** Search term; empty for the whole list. */
  search: string;
  /** Reason for which a new order was rejected. */
  rejection?: string | undefined;
}

/** Number of components from which a list can be searched. */
const SEARCHED_FROM = 10;

/** List of the components of one page. */
function ComponentList(props: ComponentListProps) {
  const { pages, page, listing, role, search, rejection } = props;
  const { groups, components } = listing;
  const canArrange = roleAllows(role, "admin");
  const isEmpty = groups.length + components.length === 0;
  const found = search === "" ? listing : findComponents(listing, search);
  return (
    <>
      <PageHead
        title="Components"
        isList
        actions={
          <>
            <HeadLinks>
              <ButtonLink href={PAGES_PATH}>
                <Icon name="globe" />
                Pages
              </ButtonLink>
              {canArrange && !isEmpty ? <OtherCreation slug={page.slug} /> : null}
            </HeadLinks>
            {canArrange && !isEmpty ? <AddLink slug={page.slug} /> : null}
          </>
        }
      >
        Components of <a href={`/status/${page.slug}`}>{page.name}</a>, in the order of the page.
      </PageHead>
      {rejection === undefined ? null : <FormNotice>{rejection}</FormNotice>}
      {pages.length < 2 && search === "" && components.length < SEARCHED_FROM ? null : (
        <Tools {...props} count={found.components.length} />
      )}
      {isEmpty ? (
        <NoComponents slug={page.slug} canArrange={canArrange} />
      ) : (
        <Found {...props} listing={found} />
      )}
    </>
  );
}

/** Found components. Only the whole list can be put in order. */
function Found({ listing, page, role, search }: ComponentListProps) {
  if (search !== "" && listing.components.length === 0) {
    return <NoMatch title="No components match" home={componentsOfPagePath(page.slug)} />;
  }
  const canOrder = roleAllows(role, "admin") && search === "";
  return (
    <OrderList
      action={canOrder ? `${COMPONENTS_PATH}/order` : undefined}
      fields={{ page: page.id }}
    >
      <Parts listing={listing} slug={page.slug} role={role} canOrder={canOrder} />
    </OrderList>
  );
}

/** Returns the components whose name, or whose group's name, contains a text, and their groups. */
function findComponents(listing: ComponentListing, search: string): ComponentListing {
  const text = search.toLowerCase();
  const names = new Map(listing.groups.map(({ id, name }) => [id, name.toLowerCase()]));
  const components = listing.components.filter(
    ({ name, groupId }) =>
      name.toLowerCase().includes(text) || names.get(groupId ?? "")?.includes(text),
  );
  const used = new Set(components.map(({ groupId }) => groupId));
  return { ...listing, components, groups: listing.groups.filter(({ id }) => used.has(id)) };
}

function OtherCreation({ slug }: { slug: string }) {
  return (
    <>
      <ButtonLink href={withQuery(`${COMPONENTS_PATH}/groups/new`, { page: slug })}>
        Add group
      </ButtonLink>
      <ButtonLink href={withQuery(`${COMPONENTS_PATH}/several`, { page: slug })}>
        Add several
      </ButtonLink>
    </>
  );
}

function AddLink({ slug }: { slug: string }) {
  return (
    <ButtonLink href={newComponentPath(slug)} kind="primary">
      Add component
    </ButtonLink>
  );
}

function NoComponents({ slug, canArrange }: { slug: string; canArrange: boolean }) {
  return (
    <EmptyState
      title="No components yet"
      action={
        canArrange ? (
          <>
            <OtherCreation slug={slug} />
            <AddLink slug={slug} />
          </>
        ) : undefined
      }
    >
      A component is a part of your service that users notice, such as a website or an API. The page
      shows the status of each component.{canArrange ? "" : " Ask an admin to add the first."}
    </EmptyState>
  );
}

function Parts(props: { listing: ComponentListing; slug: string; role: Role; canOrder: boolean }) {
  const { listing, slug, role, canOrder } = props;
  const { groups, components } = listing;
  const canArrange = roleAllows(role, "admin");
  const byGroup = Map.groupBy(components, ({ groupId }) => groupId);
  const rowsOf = (groupId: string | null) =>
    (byGroup.get(groupId) ?? []).map((component) => (
      <ComponentLine
        key={component.id}
        component={component}
        causes={listing.causes.get(component.id) ?? []}
        role={role}
        canOrder={canOrder}
      />
    ));
  // With groups, this part is also the target for components that leave their group.
  const hasUngrouped = byGroup.has(null) || (canOrder && groups.length > 0);
  return (
    <>
      {hasUngrouped ? (
        <OrderPart
          {...(groups.length > 0 ? { title: "Without a group" } : {})}
          emptyText="All components are in groups. Components without a group come first on the page."
        >
          {rowsOf(null)}
        </OrderPart>
      ) : null}
      {groups.map(({ id, name }) => (
        <OrderPart
          key={id}
          id={id}
          title={name}
          moveAction={canOrder ? `${groupPath(id)}/move` : undefined}
          actions={
            canArrange ? (
              <>
                <ButtonLink href={newComponentPath(slug, id)}>
                  Add component<span class="visually-hidden"> to {name}</span>
                </ButtonLink>
                <ButtonLink href={groupPath(id)}>
                  Edit <span class="visually-hidden">{name} </span>group
                </ButtonLink>
              </>
            ) : undefined
          }
          emptyText="No components yet. The page hides groups without components."
        >
          {rowsOf(id)}
        </OrderPart>
      ))}
    </>
  );
}

function ComponentLine(props: {
  component: ComponentRow;
  causes: readonly NamedCause[];
  role: Role;
  canOrder: boolean;
}) {
  const { component, role, canOrder } = props;
  const { id, name, status } = component;
  const path = componentPath(id);
  const causes = status === "operational" ? [] : effectiveCauses(component, props.causes);
  return (
    <OrderRow
      id={id}
      name={name}
      href={path}
      note={
        <p class="order-note">
          <StatusLabel status={status} /> <CauseList causes={causes} />
          <ComponentTags tags={component.tags} />
        </p>
      }
      moveAction={canOrder ? `${path}/move` : undefined}
      actions={
        roleAllows(role, "editor") ? (
          <ButtonLink href={`${path}/status`} dialog>
            Set status<span class="visually-hidden"> of {name}</span>
          </ButtonLink>
        ) : undefined
      }
    />
  );
}

/** Search of the list, and the page whose components are listed. */
function Tools({ pages, page, search, count }: ComponentListProps & { count: number }) {
  const isSwitch = pages.length > 1;
  return (
    <ListToolbar
      isCard
      action={COMPONENTS_PATH}
      search={{
        value: search,
        label: "Search by name or group",
        placeholder: "Search components",
      }}
      hidden={isSwitch ? {} : { page: page.slug }}
      clearHref={search === "" ? undefined : componentsOfPagePath(page.slug)}
      count={plural(count, "component")}
    >
      {isSwitch ? (
        <FilterSelect
          label="Page"
          name="page"
          options={pages.map((one) => ({ value: one.slug, label: labelAmong(pages, one) }))}
          value={page.slug}
        />
      ) : null}
    </ListToolbar>
  );
}

/*
 * A page's groups and components as one list of ids, as a screen shows them from top to bottom: those
 * without a group, then each group, followed by its components. Components that follow a group's id belong to that group.
 */
type Sequence = readonly string[];

type Direction = "up" | "down";

/** Returns the stored order of a page. */
function readSequence(reader: Reader, pageId: string): string[] {
  return sequenceOf(listGroups(reader, { pageId }), listComponentsOfPage(reader, { pageId }));
}

function sequenceOf(
  groups: readonly Pick<GroupRow, "id">[],
  components: readonly Pick<ComponentRow, "id" | "groupId">[],
): string[] {
  const byGroup = Map.groupBy(components, ({ groupId }) => groupId);
  const idsOf = (groupId: string | null) => (byGroup.get(groupId) ?? []).map(({ id }) => id);
  return [...idsOf(null), ...groups.flatMap(({ id }) => [id, ...idsOf(id)])];
}

/** Converts a sequence of ids to an order. */
function orderOf(sequence: Sequence): ComponentOrder {
  const groups: string[] = [];
  const components: { id: string; groupId: string | null }[] = [];
  for (const id of sequence) {
    if (isGroup(id)) groups.push(id);
    else components.push({ id, groupId: groups.at(-1) ?? null });
  }
  return { groups, components };
}

/**
 * Moves one id by a position. A component passes its neighbour or leaves its group; a group passes
 * the next one with its components. Returns the same sequence if there is no such position.
 */
function moved(sequence: Sequence, id: string, direction: Direction): Sequence {
  const blocks = blocksOf(sequence, isGroup(id));
  const at = blocks.findIndex(([first]) => first === id);
  const next = at + (direction === "up" ? -1 : 1);
  const [own, other] = [blocks[at], blocks[next]];
  if (!own || !other || (isGroup(id) && !isGroup(other[0] ?? ""))) return sequence;
  return blocks.with(at, other).with(next, own).flat();
}

/**
 * Splits a sequence into the blocks that move together: single ids, or each group with its
 * components.
 */
function blocksOf(sequence: Sequence, isByGroup: boolean): string[][] {
  if (!isByGroup) return sequence.map((id) => [id]);
  const blocks: string[][] = [];
  for (const id of sequence) {
    const last = blocks.at(-1);
    if (last && !isGroup(id)) last.push(id);
    else blocks.push([id]);
  }
  return blocks;
}

function isGroup(id: string): boolean {
  return id.startsWith("grp_");
}
