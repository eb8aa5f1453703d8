import type { ComponentRow, GroupRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { type Role, roleAllows } from "../../domain/role";
import {
  Button,
  ButtonLink,
  EmptyState,
  FilterSelect,
  OrderList,
  OrderPart,
  OrderRow,
  PageHead,
  FormNotice,
  StatusLabel,
} from "../../ui";
import { labelAmong } from "../page-choice";
import { componentPath, COMPONENTS_PATH, groupPath } from "../paths";
import { newComponentPath, newGroupPath, ORDER_PATH } from "./component-paths";
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
  /** Reason for which a new order was rejected. */
  rejection?: string | undefined;
}

/** List of the components of one page. */
export function ComponentList({ pages, page, listing, role, rejection }: ComponentListProps) {
  const { groups, components } = listing;
  const canArrange = roleAllows(role, "admin");
  const isEmpty = groups.length + components.length === 0;
  return (
    <>
      <PageHead
        title="Components"
        actions={canArrange && !isEmpty ? <Creation slug={page.slug} /> : undefined}
      >
        Components of <a href={`/status/${page.slug}`}>{page.name}</a>, in the order of the page.
      </PageHead>
      {rejection === undefined ? null : <FormNotice>{rejection}</FormNotice>}
      <PageSwitch pages={pages} slug={page.slug} />
      {isEmpty ? (
        <NoComponents slug={page.slug} canArrange={canArrange} />
      ) : (
        <OrderList action={canArrange ? ORDER_PATH : undefined} fields={{ page: page.id }}>
          <Parts listing={listing} role={role} />
        </OrderList>
      )}
    </>
  );
}

function Creation({ slug }: { slug: string }) {
  return (
    <>
      <ButtonLink href={newGroupPath(slug)}>Add group</ButtonLink>
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

function Parts({ listing, role }: { listing: ComponentListing; role: Role }) {
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
      />
    ));
  // With groups, this part is also the target for components that leave their group.
  const hasUngrouped = byGroup.has(null) || (canArrange && groups.length > 0);
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
          moveAction={canArrange ? `${groupPath(id)}/move` : undefined}
          actions={
            canArrange ? (
              <ButtonLink href={groupPath(id)}>
                Edit<span class="visually-hidden"> {name}</span>
              </ButtonLink>
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
}) {
  const { component, role } = props;
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
      moveAction={roleAllows(role, "admin") ? `${path}/move` : undefined}
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

/** Selects the page whose components are listed. Hidden if there is only one page. */
function PageSwitch(props: { pages: readonly Pick<PageRow, "slug" | "name">[]; slug: string }) {
  if (props.pages.length < 2) return null;
  return (
    <form class="search" method="get" action={COMPONENTS_PATH}>
      <FilterSelect
        label="Page"
        name="page"
        options={props.pages.map((page) => ({
          value: page.slug,
          label: labelAmong(props.pages, page),
        }))}
        value={props.slug}
      />
      <Button>Show</Button>
    </form>
  );
}
