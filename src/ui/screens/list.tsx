import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../base/actor";
import { NAME_MAX } from "../../base/texts";
import type { Reader } from "../../db/statements";
import type { PageRow } from "../../features/pages/store";
import { EmptyState } from "../blocks";
import { Button, ButtonLink, safeHref } from "../buttons";
import { FirstPage, readPages, labelAmong, type Page } from "../frame/page-choice";
import { withQuery } from "../frame/paths";
import {
  type DataColumn,
  DataTable,
  DenseDataTable,
  type DenseDataTableProps,
  FilterSelect,
  inOrder,
  ListCard,
  ListToolbar,
  OrderSelect,
  type Sorting,
} from "../list";
import { HeadLinks, PageHead, Pagination, Tabs } from "../navigation";

type Query = Readonly<Record<string, string | undefined>>;

/** Maximum length of a text in a query, in UTF-16 code units; the rest is ignored. Names can have two per code point. */
const TEXT_MAX = 2 * NAME_MAX;

/** Query of a list. Invalid parameters are ignored. */
export interface ListQuery {
  pages: readonly PageRow[];
  /** Page that the list is filtered by; undefined for all. */
  page: PageRow | undefined;
  /** Id of the last entry of the part before this one; undefined for the first part. */
  before: string | undefined;
}

/** Reads the query parameters `page`, a slug or id, and `before`. */
export function readListQuery(reader: Reader, query: Query): ListQuery {
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  return { pages, page, before: query["before"] || undefined };
}

/** Returns a text that was typed as a query parameter, by default as `q`. */
export function readSearch(query: Query, name = "q"): string {
  return (query[name] ?? "").trim().slice(0, TEXT_MAX);
}

/**
 * Reads the query parameter `sort`: the key of a column for its smallest values first, after “-” for its largest.
 * Undefined for the usual order and for an unknown column.
 */
export function readOrder<Key extends string>(
  query: Query,
  keys: readonly Key[],
): Key | `-${Key}` | undefined {
  return keys.flatMap((key) => [key, `-${key}` as const]).find((order) => order === query["sort"]);
}

/** Returns the number of filters in force. */
export function countFilters(filters: Readonly<Record<string, string | undefined>>): number {
  return Object.values(filters).filter(Boolean).length;
}

/** Select of a list. It is hidden without options. */
interface ListSelect {
  label: string;
  /** Query parameter. */
  name: string;
  /** Label of the option that does not filter, such as "Every tag". */
  every: string;
  options: readonly { value: string; label: string }[];
}

/** Views of a list, shown as tabs. */
interface ListViews {
  label: string;
  /** Query parameter. */
  name: string;
  liveId: string;
  /** Value of the shown view; undefined for the first one. */
  current: string | undefined;
  items: readonly { value: string | undefined; label: string; count?: number | undefined }[];
}

interface ListScreenProps<Entry> extends ListQuery {
  /** Heading of the screen. */
  title: string;
  /** Path of the list. */
  home: string;
  /** Label and placeholder of the search field. */
  search: { label: string; placeholder: string };
  /** Query parameters of the search, `q`, and of the selects, in the order of addresses. */
  filters: Readonly<Record<string, string | undefined>>;
  selects: readonly ListSelect[];
  views: ListViews;
  /** Order that the address names, and the usual one in words; undefined for a list in one order only. */
  order: { value: string | undefined; usual: string } | undefined;
  /** Number of matching entries as text, such as "12 incidents". */
  count: string | undefined;
  /** Links to other screens, shown to every role. */
  links?: ComponentChildren;
  /** Link to the form for a new entry, shown to editors. */
  newLink: ComponentChildren;
  role: Role;
  /** Title and text of a list that never had an entry. */
  firstUse: { title: string; text: string };
  /** Sentence for filters that match nothing. */
  noMatch: string;
  table: Omit<DenseDataTableProps<Entry>, "sorting">;
  /** Id of the last entry if older ones follow. */
  nextBefore: string | undefined;
  /** Content below the table. */
  children?: ComponentChildren;
}

/** Screen of a list: heading, tabs of views, and a card with filters, a table and links to its other parts. */
export function ListScreen<Entry>(props: ListScreenProps<Entry>) {
  const { title, home, filters, views, pages, before, role, firstUse, table, nextBefore } = props;
  const newLink = roleAllows(role, "editor") && pages.length > 0 ? props.newLink : undefined;
  const links = pages.length > 0 && props.links ? <HeadLinks>{props.links}</HeadLinks> : undefined;
  const isEmpty = table.entries.length === 0;
  const isFiltered = [views.current, ...Object.values(filters)].some(Boolean);
  if (isEmpty && !isFiltered && before === undefined) {
    return (
      <>
        <PageHead title={title} actions={links} isList />
        <Content>
          {pages.length === 0 ? (
            <FirstPage role={role} />
          ) : (
            <EmptyState title={firstUse.title} action={newLink}>
              {firstUse.text}
            </EmptyState>
          )}
        </Content>
      </>
    );
  }
  const { order } = props;
  const sort = order?.value;
  const isOrdered = sort !== undefined;
  const pathOf = (view: string | undefined, more?: Parameters<typeof withQuery>[1]) =>
    withQuery(home, { ...filters, [views.name]: view, sort, ...more });
  const newest = pathOf(views.current);
  const sorting: Sorting | undefined = order && {
    order: sort,
    usual: order.usual,
    pathOf: (other) => pathOf(views.current, { sort: other }),
  };
  return (
    <>
      <PageHead
        title={title}
        isList
        actions={
          <>
            {links}
            {newLink}
          </>
        }
      />
      <Content>
        <div id={views.liveId} data-live="">
          <Tabs
            label={views.label}
            items={views.items.map(({ value, label, count }) => ({
              href: pathOf(value),
              label,
              ...(count === undefined ? {} : { count }),
              isCurrent: value === views.current,
            }))}
          />
        </div>
        <ListCard>
          <Toolbar list={props} sorting={sorting} />
          {!isEmpty ? (
            <>
              <DenseDataTable {...table} sorting={sorting} />
              {props.children}
            </>
          ) : before === undefined ? (
            <NoMatch title={props.noMatch} home={home} />
          ) : (
            <NoOlder what={title.toLowerCase()} newest={newest} isOrdered={isOrdered} />
          )}
          <Pagination
            isOrdered={isOrdered}
            newestHref={before === undefined ? undefined : newest}
            olderHref={nextBefore ? pathOf(views.current, { before: nextBefore }) : undefined}
          />
        </ListCard>
      </Content>
    </>
  );
}

interface ToolbarProps<Entry> {
  list: ListScreenProps<Entry>;
  sorting: Sorting | undefined;
}

/** Search, selects and order of a list. They keep its view. */
function Toolbar<Entry>({ list, sorting }: ToolbarProps<Entry>) {
  const { home, search, filters, selects, views, count, table } = list;
  const view = views.current === undefined ? {} : { [views.name]: views.current };
  const { q, ...chosen } = filters;
  return (
    <ListToolbar
      action={home}
      search={{ ...search, value: q ?? "" }}
      hidden={view}
      clearHref={
        countFilters(filters) > 0 ? withQuery(home, { ...view, sort: sorting?.order }) : undefined
      }
      inForce={countFilters(chosen)}
      count={count}
    >
      <Selects selects={selects} filters={filters} />
      <OrderSelect sorting={sorting} columns={[table.name, ...table.columns]} />
    </ListToolbar>
  );
}

interface OrderedTableProps<Entry> {
  /** Path of the list. */
  home: string;
  /** Query parameter `sort`. An unknown order is the usual one. */
  order: string | undefined;
  /** Usual order in words, in which the entries are. */
  usual: string;
  /** Values of the columns by the keys of their orders. */
  valuesBy: Readonly<Record<string, (entry: Entry) => string | number | null>>;
  caption: string;
  columns: readonly DataColumn<Entry>[];
  entries: readonly Entry[];
  isOver?: (entry: Entry) => boolean;
}

/** Table of a list without filters that is read as a whole, in the order that its address names. */
export function OrderedTable<Entry>(props: OrderedTableProps<Entry>) {
  const { home, order: named, usual, valuesBy, entries, ...table } = props;
  const order = readOrder({ sort: named }, Object.keys(valuesBy));
  const sorting = { order, usual, pathOf: (sort: string | undefined) => withQuery(home, { sort }) };
  return (
    <ListCard>
      <form class="list-tools order-only" method="get" action={safeHref(home)}>
        <OrderSelect sorting={sorting} columns={table.columns} />
        <noscript>
          <Button>Show</Button>
        </noscript>
      </form>
      <DataTable
        {...table}
        entries={inOrder(entries, order, valuesBy)}
        sorting={sorting}
        isInCard
      />
    </ListCard>
  );
}

/** Selects in a `ListToolbar`, with their values by query parameter. */
export function Selects({ selects, filters }: Pick<ListScreenProps<never>, "selects" | "filters">) {
  return (
    <>
      {selects.map(({ label, name, every, options }) =>
        options.length === 0 ? null : (
          <FilterSelect
            key={name}
            label={label}
            name={name}
            options={[{ value: "", label: every }, ...options]}
            value={filters[name] ?? ""}
          />
        ),
      )}
    </>
  );
}

/** Select of a list by page; hidden if there is only one. */
export function pageSelect(pages: readonly Page[]): ListSelect {
  const options = pages.map((page) => ({ value: page.slug, label: labelAmong(pages, page) }));
  return {
    label: "Page",
    name: "page",
    every: "Every page",
    options: pages.length < 2 ? [] : options,
  };
}

/** Message of a later part of a list that has no entries. */
export function NoOlder(props: { what: string; newest: string; isOrdered?: boolean }) {
  const { what, newest, isOrdered = false } = props;
  return (
    <EmptyState
      title={`No ${isOrdered ? "more" : "older"} ${what}`}
      action={
        <ButtonLink href={newest}>{isOrdered ? "Show the first" : "Show the newest"}</ButtonLink>
      }
    >
      The list ends here.
    </EmptyState>
  );
}

/** Block that is refreshed as a whole, so that the first entry replaces the text of an empty list. */
function Content({ children }: { children: ComponentChildren }) {
  return (
    <div class="columns-main" id="list" data-live="">
      {children}
    </div>
  );
}

/** Message of a list whose filters match nothing, with a link to the whole list. */
export function NoMatch({ title, home }: { title: string; home: string }) {
  return (
    <EmptyState title={title} action={<ButtonLink href={home}>Show all</ButtonLink>}>
      Change the filters, or show the whole list.
    </EmptyState>
  );
}
