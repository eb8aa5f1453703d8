import { type Role, roleAllows } from "../../../base/actor";
import { plural } from "../../../base/text";
import type { Reader } from "../../../db/statements";
import { EmptyState, FormNotice, StatusLabel } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { labelAmong } from "../../../ui/frame/page-choice";
import {
  componentPath,
  COMPONENTS_PATH,
  componentsOfPagePath,
  groupPath,
  newComponentPath,
  withQuery,
} from "../../../ui/frame/paths";
import { CauseList, ComponentTags, effectiveCauses, type NamedCause } from "./view";
import { FilterSelect, ListToolbar, OrderList, OrderPart, OrderRow } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { NoMatch } from "../../../ui/screens/list";
import type { PageRow } from "../../pages/store";
import { listNamedCausesOfPage } from "../cause-store";
import type { ComponentOrder } from "../components";
import { type ComponentRow, type GroupRow, listComponentsOfPage, listGroups } from "../store";

/** Groups and components of one page, in page order. */
interface ComponentListing {
  groups: readonly GroupRow[];
  components: readonly ComponentRow[];
  /** Open causes by component id; components without causes are missing. */
  causes: ReadonlyMap<string, readonly NamedCause[]>;
}

/** Returns the groups and components of a page, in page order, with their open causes. */
export function readListing(reader: Reader, pageId: string): ComponentListing {
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
export function ComponentList(props: ComponentListProps) {
  const { pages, page, listing, role, search, rejection } = props;
  const { groups, components } = listing;
  const canArrange = roleAllows(role, "admin");
  const isEmpty = groups.length + components.length === 0;
  const found = search === "" ? listing : findComponents(listing, search);
  return (
    <>
      <PageHead
        title="Components"
        actions={canArrange && !isEmpty ? <Creation slug={page.slug} /> : undefined}
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

function Creation({ slug }: { slug: string }) {
  return (
    <>
      <ButtonLink href={withQuery(`${COMPONENTS_PATH}/groups/new`, { page: slug })}>
        Add group
      </ButtonLink>
      <ButtonLink href={withQuery(`${COMPONENTS_PATH}/several`, { page: slug })}>
        Add several
      </ButtonLink>
      <ButtonLink href={newComponentPath(slug)} kind="primary">
        Add component
      </ButtonLink>
    </>
  );
}

function NoComponents({ slug, canArrange }: { slug: string; canArrange: boolean }) {
  return (
    <EmptyState
      title="No components yet"
      action={canArrange ? <Creation slug={slug} /> : undefined}
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
                  Edit<span class="visually-hidden"> {name}</span>
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

export type Direction = "up" | "down";

/** Returns the stored order of a page. */
export function readSequence(reader: Reader, pageId: string): string[] {
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
export function orderOf(sequence: Sequence): ComponentOrder {
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
export function moved(sequence: Sequence, id: string, direction: Direction): Sequence {
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
