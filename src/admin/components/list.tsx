import type { ComponentRow, GroupRow } from "../../features/components/store";
import type { PageRow } from "../../features/pages/store";
import { type Role, roleAllows } from "../../base/actor";
import { plural } from "../../base/text";
import { ButtonLink } from "../../ui/buttons";
import { EmptyState, FormNotice, StatusLabel } from "../../ui/blocks";
import { FilterSelect, ListToolbar } from "../../ui/list";
import { OrderList, OrderPart, OrderRow } from "../../ui/order-list";
import { PageHead } from "../../ui/navigation";
import { labelAmong } from "../../ui/frame/page-choice";
import { NoMatch } from "../../features/timeline/screens/list";
import {
  componentPath,
  COMPONENTS_PATH,
  componentsOfPagePath,
  groupPath,
} from "../../ui/frame/paths";
import {
  newComponentPath,
  newGroupPath,
  ORDER_PATH,
  severalComponentsPath,
} from "./component-paths";
import { ComponentTags } from "./tags";
import { effectiveCauses, type NamedCause, CauseList } from "./cause-list";

/** Groups and components of one page, in page order. */
export interface ComponentListing {
  groups: readonly GroupRow[];
  components: readonly ComponentRow[];
  /** Open causes by component id; components without causes are missing. */
  causes: ReadonlyMap<string, readonly NamedCause[]>;
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
    <OrderList action={canOrder ? ORDER_PATH : undefined} fields={{ page: page.id }}>
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
      <ButtonLink href={newGroupPath(slug)}>Add group</ButtonLink>
      <ButtonLink href={severalComponentsPath(slug)}>Add several</ButtonLink>
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
