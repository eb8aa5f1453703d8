import type { ComponentChildren } from "preact";
import { Icon } from "./icons";
import { safeHref } from "./safe-href";

/** Column of a `DenseTable`. */
interface DenseColumn {
  label: string;
  isNumeric?: boolean;
  /** True if only screen readers read the label. */
  isHidden?: boolean;
  /** Order of the rows by this column, and the path of the list in its other order. */
  sort?: { order: "ascending" | "other"; href: string };
  /** True if the column is hidden in a narrow table. */
  isSecondary?: boolean;
}

interface DenseTableProps {
  columns: readonly DenseColumn[];
  /** Title for screen readers. */
  caption: string;
  /** Id of the rows if they are refreshed. */
  liveId?: string;
  /** `DenseRow`s. */
  children: ComponentChildren;
}

/**
 * Table with rows of one height. A narrow table hides secondary columns; an even narrower one shows
 * only the name and one figure of each row, with bars below. The roles are written out, since browsers
 * drop those of elements that are not displayed as a table.
 */
export function DenseTable({ columns, caption, liveId, children }: DenseTableProps) {
  return (
    <table class="table dense" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ label, isNumeric, isHidden, isSecondary, sort }) => (
            <th
              key={label}
              scope="col"
              role="columnheader"
              aria-sort={sort?.order}
              class={classOf(isNumeric ? "numeric" : "", isSecondary)}
            >
              {isHidden ? (
                <span class="visually-hidden">{label}</span>
              ) : sort ? (
                <a class="sort" href={safeHref(sort.href)}>
                  {label}
                  <Icon name="chevron-down" />
                </a>
              ) : (
                label
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" id={liveId} data-live={liveId ? "" : undefined}>
        {children}
      </tbody>
    </table>
  );
}

/** Row of a `DenseTable`. */
export function DenseRow({ children }: { children: ComponentChildren }) {
  return <tr role="row">{children}</tr>;
}

interface PickCellProps {
  name: string;
  value: string;
  /** Accessible name, such as "Select Shop". */
  label: string;
}

/** Checkbox that selects its row for the buttons of a `BulkBar`. */
export function PickCell({ name, value, label }: PickCellProps) {
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
export function NameCell({ shape, href, name, state, note, tags }: NameCellProps) {
  return (
    <td role="cell" class="name">
      <div class="cell-name">
        {shape}
        <div>
          <a class="row-link" href={safeHref(href)}>
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
  isSecondary?: boolean;
  children?: ComponentChildren;
}

/** Cell with a figure. With `isMiddle`, it is hidden in a table for phones. */
export function FigureCell({
  isSecondary,
  isMiddle,
  children,
}: DenseCellProps & { isMiddle?: boolean }) {
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
export function TextCell({
  isSecondary,
  isBars,
  isMiddle,
  children,
}: DenseCellProps & { isBars?: boolean; isMiddle?: boolean }) {
  return (
    <td role="cell" class={classOf(isBars ? "line" : isMiddle ? "middle" : "", isSecondary)}>
      {children}
    </td>
  );
}

function classOf(own: string, isSecondary: boolean | undefined): string | undefined {
  return [own, isSecondary ? "secondary" : ""].filter(Boolean).join(" ") || undefined;
}
