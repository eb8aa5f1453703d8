import type { ComponentChildren } from "preact";
import { orderingScript } from "./assets";
import { Button, safeHref } from "./buttons";
import { Select } from "./choices";
import { fieldId } from "./field";
import { MoreMenu } from "./detail";
import { HiddenFields } from "./form";
import { Icon } from "./icons";
import { PhoneSheet } from "./navigation";

interface ListToolbarProps {
  /** Path of this site. */
  action: string;
  /** Search field, submitted as `q`; a toolbar without it has only filters. */
  search?: { value: string; label: string; placeholder: string };
  /** Other query parameters, which the search keeps. */
  hidden?: Readonly<Record<string, string>>;
  /** Path of the list without search and filters, if there are any. */
  clearHref?: string | undefined;
  /** Number of matching entries as text, such as "12 monitors". */
  count?: string | undefined;
  /** True if the toolbar is a card of its own, above its list. */
  isCard?: boolean;
  /** `FilterSelect`s that submit the form, `FilterDate`s, and an `OrderSelect`. */
  children?: ComponentChildren;
  /** Number of filters in force, which the button shows that opens them on a phone. */
  inForce?: number;
  /** True with `FilterDate`s: with several texts, a browser submits a form only by its button. */
  hasDates?: boolean;
}

/** Card of a list: its `ListToolbar`, its rows or an empty state, and links to its other parts. */
export function ListCard({ children }: { children: ComponentChildren }) {
  return <div class="card table-card list-card">{children}</div>;
}

/** Search and filters of a list, at the top of its card. Without a script a button submits them. */
export function ListToolbar(props: ListToolbarProps) {
  const { action, search, hidden, clearHref, count, isCard, children, inForce = 0 } = props;
  const clear =
    clearHref === undefined ? null : (
      <a class="list-clear" href={safeHref(clearHref)}>
        Show all
      </a>
    );
  const form = (
    <form class="list-tools" role="search" method="get" action={safeHref(action)}>
      <HiddenFields values={hidden} />
      {search === undefined ? null : (
        <label class="with-icon">
          <Icon name="search" />
          <span class="visually-hidden">{search.label}</span>
          <input
            class="input"
            type="search"
            id={fieldId("q")}
            name="q"
            value={search.value}
            placeholder={search.placeholder}
            title={search.label}
            autocomplete="off"
          />
        </label>
      )}
      {children === undefined || children === null ? (
        <>
          <noscript>
            <Button>Show</Button>
          </noscript>
          {clear}
        </>
      ) : (
        <PhoneSheet
          id="list-filters"
          label="Filters"
          button={
            <>
              Filters
              {inForce === 0 ? null : (
                <>
                  <span class="n">{inForce}</span>
                  <span class="visually-hidden"> in force</span>
                </>
              )}
            </>
          }
        >
          {children}
          <div class={props.hasDates ? "list-show has-dates" : "list-show"}>
            <Button>Show</Button>
          </div>
          {clear}
        </PhoneSheet>
      )}
      {count === undefined ? null : <span class="list-count">{count}</span>}
    </form>
  );
  return isCard ? <div class="card list-search">{form}</div> : form;
}

interface BulkBarProps {
  /** Accessible name, such as "Actions for the selected monitors". */
  label: string;
  /** Checkbox that chooses all rows of the list, also those of its other parts, with their number. */
  all?: { name: string; count: number } | undefined;
  /** Buttons of the form that contains the bar and the table. The first has the least effect. */
  children: ComponentChildren;
}

/** Buttons for the rows that are selected with a `PickCell`, shown once a row is selected. */
export function BulkBar({ label, all, children }: BulkBarProps) {
  return (
    <div class="bulk" role="group" aria-label={label}>
      <span data-chosen>With the selected:</span>
      {all === undefined ? null : (
        <label class="pick-all">
          <input
            type="checkbox"
            name={all.name}
            value="1"
            data-pick-all={all.count}
            autocomplete="off"
          />
          All {all.count.toLocaleString("en")}
        </label>
      )}
      {children}
      <button class="button plain" type="button" data-unpick data-scripted hidden>
        Clear
      </button>
    </div>
  );
}

interface FilterSelectProps {
  /** Property that the list is filtered by. Only screen readers read it; the selected option shows it. */
  label: string;
  name: string;
  options: readonly { value: string; label: string }[];
  value: string;
}

/** Select that filters a list, in a `ListToolbar`. A change submits its form. */
export function FilterSelect({ label, name, options, value }: FilterSelectProps) {
  const id = fieldId(name);
  return (
    <div class="select">
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <Select
        options={options}
        selected={value}
        id={id}
        name={name}
        title={label}
        autocomplete="off"
        data-submits
      />
    </div>
  );
}

interface FilterDateProps {
  /** Visible label in one word, such as "From". */
  label: string;
  name: string;
  /** `YYYY-MM-DD`, or empty. */
  value: string;
}

/** Date that filters a list, in a `ListToolbar`. */
export function FilterDate({ label, name, value }: FilterDateProps) {
  return (
    <div class="filter-date">
      <label for={fieldId(name)}>{label}</label>
      <input class="input" type="date" id={fieldId(name)} name={name} value={value} />
    </div>
  );
}

/* Order of lists by their columns. */

type Direction = "ascending" | "descending";

/** Kind of a column's values: its words, and the order that its heading offers first. */
const KINDS = {
  name: { ascending: "A to Z", descending: "Z to A", first: "ascending" },
  number: { ascending: "smallest first", descending: "largest first", first: "descending" },
  lowest: { ascending: "lowest first", descending: "highest first", first: "ascending" },
  state: { ascending: "best first", descending: "worst first", first: "descending" },
  phase: { ascending: "first to last", descending: "last to first", first: "ascending" },
  next: { ascending: "soonest first", descending: "latest first", first: "ascending" },
  rank: { ascending: "lowest first", descending: "highest first", first: "descending" },
  time: { ascending: "oldest first", descending: "newest first", first: "descending" },
} as const;

/** Order by a column. */
export interface ColumnSort {
  /** Name in addresses: `name` for the smallest values first, `-name` for the largest. */
  key: string;
  /** By default `name`. */
  kind?: keyof typeof KINDS;
  /** Order of this column in the list's usual order; `other` if that is described by the label. */
  usual?: Direction | "other";
  /** The only direction, if the other one cannot be read. */
  only?: Direction;
}

/** Order of a list, which its address names. */
export interface Sorting {
  /** Value of the query parameter `sort`; undefined for the usual order. */
  order: string | undefined;
  /** Usual order in words, such as "Worst first". */
  usual: string;
  /** Returns the path of the list in an order, from its start and with its filters. */
  pathOf: (order: string | undefined) => string;
}

const orderIn = (key: string, direction: Direction) =>
  direction === "ascending" ? key : `-${key}`;

/** Returns the orders that the heading of a column offers one after the other, with their directions. */
function ordersOf({ key, kind = "name", usual, only }: ColumnSort) {
  const { first } = KINDS[kind];
  const second = first === "ascending" ? "descending" : "ascending";
  const directions: Direction[] = only ? [only] : [first, second];
  const named = directions
    .filter((direction) => direction !== usual)
    .map((direction) => ({
      order: orderIn(key, direction),
      direction,
      words: KINDS[kind][direction],
    }));
  return {
    named,
    all: usual === "other" || !usual ? [...named, undefined] : [undefined, ...named],
  };
}

interface HeadingProps {
  column: Column & { isSecondary?: boolean };
  sorting: Sorting | undefined;
}

/** Heading of a column. The link of one that orders the list names the next order. */
function Heading({ column, sorting }: HeadingProps) {
  const { label, isNumeric, isHidden, isSecondary, sort } = column;
  const place = { scope: "col", role: "columnheader" as const };
  const kind = classOf(isNumeric ? "numeric" : "", isSecondary);
  if (sort === undefined || sorting === undefined) {
    return (
      <th {...place} class={kind}>
        {isHidden ? <span class="visually-hidden">{label}</span> : label}
      </th>
    );
  }
  const { named, all } = ordersOf(sort);
  const { key, usual } = sort;
  const isUsual = usual !== undefined && usual !== "other" && sorting.order === orderIn(key, usual);
  const order = isUsual ? undefined : sorting.order;
  const shown = order === undefined ? usual : named.find((each) => each.order === order)?.direction;
  const at = all.findIndex((each) => each?.order === order);
  const next = shown === undefined ? all[0] : all[(at + 1) % all.length];
  return (
    <th {...place} class={kind} aria-sort={shown}>
      <a class="sort" href={safeHref(sorting.pathOf(next?.order))}>
        {label}
        <Icon name="chevron-down" />
      </a>
    </th>
  );
}

interface OrderSelectProps {
  sorting: Sorting | undefined;
  columns: readonly (Column | undefined)[];
}

/** Select for the order of a list, in a `ListToolbar`. Only narrow windows show it, which have no headings. */
export function OrderSelect({ sorting, columns }: OrderSelectProps) {
  if (sorting === undefined) return null;
  const named = columns.flatMap((column) =>
    column?.sort === undefined
      ? []
      : ordersOf(column.sort).named.map(({ order, words }) => ({
          value: order,
          label: `${column.label.split(",")[0]}, ${words}`,
        })),
  );
  return (
    <div class="list-order">
      <FilterSelect
        label="Order"
        name="sort"
        options={[{ value: "", label: sorting.usual }, ...named]}
        value={sorting.order ?? ""}
      />
    </div>
  );
}

type SortValue = string | number | null | undefined;

const BY_NAME = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/**
 * Returns entries in an order (see `Sorting`), by the values that `valuesBy` names. Entries without a value are last,
 * and equal ones stay as they are. An unknown order changes nothing.
 */
export function inOrder<Entry>(
  entries: readonly Entry[],
  order: string | undefined,
  valuesBy: Readonly<Record<string, (entry: Entry) => SortValue>>,
): readonly Entry[] {
  const isDescending = order?.startsWith("-") ?? false;
  const key = order?.slice(isDescending ? 1 : 0) ?? "";
  const valueOf = Object.hasOwn(valuesBy, key) ? valuesBy[key] : undefined;
  if (valueOf === undefined) return entries;
  const sign = isDescending ? -1 : 1;
  return entries.toSorted((one, other) => {
    const [a, b] = [valueOf(one) ?? null, valueOf(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * BY_NAME.compare(String(a), String(b));
  });
}

/** Column of a `Table`. */
export interface Column {
  label: string;
  isNumeric?: boolean;
  /** True if only screen readers read the label, such as above a column of buttons. */
  isHidden?: boolean;
  /** Order by this column, if the table has a `sorting`. */
  sort?: ColumnSort;
}

interface TableProps {
  columns: readonly Column[];
  /** Title for screen readers. */
  caption?: string;
  /** True if a `ListCard` or `DetailCard` surrounds the table. */
  isInCard?: boolean;
  sorting?: Sorting | undefined;
  /** `Row`s of `Cell`s. */
  children: ComponentChildren;
}

/**
 * Table that shows each row as a block of labelled values if it is narrow. Browsers then drop the roles
 * of its elements, so these are written out.
 */
export function Table({ columns, caption, isInCard, sorting, children }: TableProps) {
  const table = (
    <table class="table" role="table">
      {caption ? <caption class="visually-hidden">{caption}</caption> : null}
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <Heading key={column.label} column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  );
  return isInCard ? table : <div class="card table-card">{table}</div>;
}

interface RowProps {
  /** True for an entry that is no longer in use: revoked or disabled. */
  isOver?: boolean;
  children: ComponentChildren;
}

/** Row of a `Table`. */
export function Row({ isOver, children }: RowProps) {
  return (
    <tr class={isOver ? "is-over" : undefined} role="row">
      {children}
    </tr>
  );
}

interface CellProps {
  /** Label of the column, shown before the value in a narrow table. */
  label?: string;
  isNumeric?: boolean;
  children?: ComponentChildren;
}

/** Cell of a `Row`. */
export function Cell({ label, isNumeric, children }: CellProps) {
  return (
    <td role="cell" class={isNumeric ? "numeric" : undefined} data-label={label}>
      <div class="cell">{children}</div>
    </td>
  );
}

/** Link that covers its whole row. */
export function RowLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="row-link" dir="auto" href={safeHref(href)}>
      {children}
    </a>
  );
}

/** Second line of a cell. */
export function CellNote({ children }: { children: ComponentChildren }) {
  return <div class="cell-note">{children}</div>;
}

/** Short text of a cell, kept on one line if the table is wide enough. */
export function OneLine({ children }: { children: ComponentChildren }) {
  return <span class="one-line">{children}</span>;
}

/** Column of a `DenseTable`. */
interface DenseColumn extends Column {
  /** True if the column is hidden in a narrow table. */
  isSecondary?: boolean;
}

interface DenseTableProps {
  columns: readonly DenseColumn[];
  /** Title for screen readers. */
  caption: string;
  /** Id of the rows if they are refreshed. */
  liveId?: string | undefined;
  sorting?: Sorting | undefined;
  /** Rows of cells. */
  children: ComponentChildren;
}

/**
 * Table with rows of one height. A narrow table hides secondary columns; an even narrower one shows
 * only the name and one figure of each row, with bars below. The roles are written out, since browsers
 * drop those of elements that are not displayed as a table.
 */
function DenseTable({ columns, caption, liveId, sorting, children }: DenseTableProps) {
  return (
    <table class="table dense" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <Heading key={column.label} column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" id={liveId} data-live={liveId ? "" : undefined}>
        {children}
      </tbody>
    </table>
  );
}

interface PickCellProps {
  name: string;
  value: string;
  /** Accessible name, such as "Select Shop". */
  label: string;
}

/** Checkbox that selects its row for the buttons of a `BulkBar`; nothing in a row that cannot be selected. */
function PickCell({ box }: { box: PickCellProps | undefined }) {
  if (box === undefined) return <td role="cell" class="pick" />;
  const { name, value, label } = box;
  return (
    <td role="cell" class="pick">
      <label>
        <span class="visually-hidden">{label}</span>
        <input type="checkbox" name={name} value={value} data-pick autocomplete="off" />
      </label>
    </td>
  );
}

interface NameCellProps {
  shape: ComponentChildren;
  href: string;
  name: string;
  /** State after the name. */
  state?: ComponentChildren;
  note?: ComponentChildren;
  /** Tags below the note. */
  tags?: ComponentChildren;
}

/** Cell with shape, name, state and note. The link of the name covers the row. */
function NameCell({ shape, href, name, state, note, tags }: NameCellProps) {
  return (
    <td role="cell" class="name">
      <div class="cell-name">
        {shape}
        <div>
          <a class="row-link" dir="auto" href={safeHref(href)}>
            {name}
          </a>{" "}
          {state}
          <span class="note">{note}</span>
          {tags}
        </div>
      </div>
    </td>
  );
}

interface DenseCellProps {
  isSecondary?: boolean | undefined;
  children?: ComponentChildren;
}

/** Cell with a figure. With `isMiddle`, it is hidden in a table for phones. */
function FigureCell({
  isSecondary,
  isMiddle,
  children,
}: DenseCellProps & { isMiddle?: boolean | undefined }) {
  return (
    <td role="cell" class={classOf(isMiddle ? "numeric middle" : "numeric", isSecondary)}>
      {children}
    </td>
  );
}

/**
 * Cell with a text or, with `isBars`, with bars that have their own line in a table for phones. With
 * `isMiddle`, it is hidden there.
 */
function TextCell({
  isSecondary,
  isBars,
  isMiddle,
  children,
}: DenseCellProps & { isBars?: boolean | undefined; isMiddle?: boolean | undefined }) {
  return (
    <td role="cell" class={classOf(isBars ? "line" : isMiddle ? "middle" : "", isSecondary)}>
      {children}
    </td>
  );
}

function classOf(own: string, isSecondary: boolean | undefined): string | undefined {
  return [own, isSecondary ? "secondary" : ""].filter(Boolean).join(" ") || undefined;
}

/** Column of a `DataTable`: its heading, and its cell for an entry. */
export interface DataColumn<Entry> extends Column {
  cell: (entry: Entry) => ComponentChildren;
}

interface DataTableProps<Entry> {
  caption: string;
  columns: readonly DataColumn<Entry>[];
  /** In the order of `sorting`: see `inOrder`. */
  entries: readonly Entry[];
  sorting?: Sorting | undefined;
  /** True for an entry that is no longer in use: revoked or disabled. */
  isOver?: (entry: Entry) => boolean;
  isInCard?: boolean;
}

/** `Table` of entries. The first column names the entry, mostly by a `RowLink`. */
export function DataTable<Entry>(props: DataTableProps<Entry>) {
  const { caption, columns, entries, sorting, isOver, isInCard = false } = props;
  return (
    <Table columns={columns} caption={caption} isInCard={isInCard} sorting={sorting}>
      {entries.map((entry, row) => (
        <Row key={row} isOver={isOver?.(entry) ?? false}>
          {columns.map(({ label, isNumeric, cell }, index) => (
            <Cell
              key={label}
              {...(index === 0 ? {} : { label })}
              {...(isNumeric ? { isNumeric } : {})}
            >
              {cell(entry)}
            </Cell>
          ))}
        </Row>
      ))}
    </Table>
  );
}

/** Column of a `DenseDataTable`: its heading, and its cell for an entry. */
export interface DenseDataColumn<Entry> extends DenseColumn {
  /** True if the cell is hidden in a table for phones. */
  isMiddle?: boolean;
  /** True for bars, which have their own line in a table for phones. */
  isBars?: boolean;
  cell: (entry: Entry) => ComponentChildren;
}

export interface DenseDataTableProps<Entry> {
  caption: string;
  /** Id of the rows if they are refreshed. */
  liveId?: string;
  /** Checkbox of an entry, if entries can be selected. */
  pick?: ((entry: Entry) => PickCellProps | undefined) | undefined;
  /** Column of names, before the others: its heading, and the parts of its cell. */
  name?: DenseColumn & { cell: (entry: Entry) => NameCellProps };
  columns: readonly DenseDataColumn<Entry>[];
  entries: readonly Entry[];
  sorting?: Sorting | undefined;
  /** True for an entry that is no longer in use: revoked or disabled. */
  isOver?: (entry: Entry) => boolean;
}

const PICK_COLUMN: DenseColumn = { label: "Select", isHidden: true };

/** `DenseTable` of entries. */
export function DenseDataTable<Entry>(props: DenseDataTableProps<Entry>) {
  const { caption, liveId, pick, name, columns, entries, sorting, isOver } = props;
  const headings = [...(pick ? [PICK_COLUMN] : []), ...(name ? [name] : []), ...columns];
  return (
    <DenseTable columns={headings} caption={caption} liveId={liveId} sorting={sorting}>
      {entries.map((entry, row) => (
        <tr key={row} role="row" class={isOver?.(entry) ? "is-over" : undefined}>
          {pick ? <PickCell box={pick(entry)} /> : null}
          {name ? <NameCell {...name.cell(entry)} /> : null}
          {columns.map(({ label, isNumeric, isSecondary, isMiddle, isBars, cell }) => {
            const place = { key: label, isSecondary, isMiddle };
            return isNumeric ? (
              <FigureCell {...place}>{cell(entry)}</FigureCell>
            ) : (
              <TextCell {...place} isBars={isBars}>
                {cell(entry)}
              </TextCell>
            );
          })}
        </tr>
      ))}
    </DenseTable>
  );
}

/* Lists whose order people change. */

interface OrderListProps {
  /**
   * Path that a new order is posted to: `fields`, then one `item` per id in the new order, each part
   * before its rows. Without it the list is read-only.
   */
  action?: string | undefined;
  fields?: Readonly<Record<string, string>>;
  /** `OrderPart`s. */
  children: ComponentChildren;
}

/**
 * List whose order can be changed by the menus of its rows. A script makes their buttons handles to drag, or to move
 * with Alt and the arrow keys, and announces each change to screen readers.
 */
export function OrderList({ action, fields = {}, children }: OrderListProps) {
  if (action === undefined) return <div class="order">{children}</div>;
  return (
    <div class="order" data-order={safeHref(action)} data-order-fields={JSON.stringify(fields)}>
      <p class="hint order-status" role="status" data-order-status hidden>
        A handle opens the actions of its row. Drag it to change the order, or press Alt with the up
        or down arrow key on it.
      </p>
      {children}
      <script type="module" src={orderingScript()} />
    </div>
  );
}

interface OrderPartProps {
  /** Id of a part that can be moved as a whole. */
  id?: string;
  /** Title above the rows. A part without a title comes first. */
  title?: string;
  /** Buttons in the menu of the part. */
  actions?: ComponentChildren;
  /** Path that the part's move buttons post to. */
  moveAction?: string | undefined;
  /** Text shown without rows. */
  emptyText: string;
  /** `OrderRow`s. */
  children: ComponentChildren;
}

/** Part of an `OrderList`, with its rows. */
export function OrderPart(props: OrderPartProps) {
  const { id, title, moveAction, actions, emptyText, children } = props;
  const isMovable = id !== undefined && moveAction !== undefined;
  return (
    <section
      class="card order-part"
      id={id}
      data-order-part
      data-order-item={isMovable ? id : undefined}
      data-order-name={isMovable ? title : undefined}
    >
      {title === undefined ? null : (
        <header class="order-head">
          <h2 class="order-text" dir="auto">
            {title}
          </h2>
          <OrderMenu name={title} moveAction={isMovable ? moveAction : undefined}>
            {actions}
          </OrderMenu>
        </header>
      )}
      <ul data-order-list>{children}</ul>
      <p class="order-empty muted">{emptyText}</p>
    </section>
  );
}

interface OrderRowProps {
  id: string;
  name: string;
  href: string;
  /** Note after the name. */
  note?: ComponentChildren;
  /** Buttons in the menu of the row. */
  actions?: ComponentChildren;
  moveAction?: string | undefined;
}

/** Row of an `OrderPart`. */
export function OrderRow({ id, name, href, note, actions, moveAction }: OrderRowProps) {
  return (
    <li
      class="order-row"
      id={id}
      data-order-item={moveAction === undefined ? undefined : id}
      data-order-name={moveAction === undefined ? undefined : name}
    >
      <div class="order-text">
        <a class="order-name" dir="auto" href={safeHref(href)}>
          {name}
        </a>
        {note}
      </div>
      <OrderMenu name={name} moveAction={moveAction}>
        {actions}
      </OrderMenu>
    </li>
  );
}

interface OrderMenuProps {
  name: string;
  moveAction: string | undefined;
  children: ComponentChildren;
}

/** Menu of a row or a part, with the buttons that move it. Nothing without a button. */
function OrderMenu({ name, moveAction, children }: OrderMenuProps) {
  if (moveAction === undefined) {
    return children ? <MoreMenu label={`Actions for ${name}`}>{children}</MoreMenu> : null;
  }
  return (
    <details class="more-menu">
      <summary class="order-handle" data-order-handle title="Drag to move, press to open the menu">
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5 2h2v2H5ZM9 2h2v2H9ZM5 7h2v2H5ZM9 7h2v2H9ZM5 12h2v2H5ZM9 12h2v2H9Z" />
        </svg>
        <span class="visually-hidden">Actions for {name}</span>
      </summary>
      <div class="card more-items">
        <form class="order-move" method="post" action={safeHref(moveAction)}>
          {(["up", "down"] as const).map((direction) => (
            <button
              key={direction}
              class="button quiet"
              name="direction"
              value={direction}
              data-order-move={direction}
            >
              <span>
                Move <span class="visually-hidden">{name} </span>
                {direction}
              </span>
            </button>
          ))}
        </form>
        {children}
      </div>
    </details>
  );
}
