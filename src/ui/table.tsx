import type { ComponentChildren } from "preact";
import { safeHref } from "./safe-href";

export interface Column {
  label: string;
  isNumeric?: boolean;
  /** For the eye, such as above a column of buttons. */
  isHidden?: boolean;
}

interface TableProps {
  columns: readonly Column[];
  /** Says what is in it, for those who do not see its heading. */
  caption?: string;
  /** `Row`s of `Cell`s. */
  children: ComponentChildren;
}

// The roles are spelled out because browsers forget them when a small screen stacks the cells.

/** A list with columns; where it is narrow, each row becomes a block of labelled values. */
export function Table({ columns, caption, children }: TableProps) {
  return (
    <div class="card table-card">
      <table class="table" role="table">
        {caption ? <caption class="visually-hidden">{caption}</caption> : null}
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ label, isNumeric, isHidden }) => (
              <th
                key={label}
                scope="col"
                role="columnheader"
                class={isNumeric ? "numeric" : undefined}
              >
                {isHidden ? <span class="visually-hidden">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">{children}</tbody>
      </table>
    </div>
  );
}

/** One thing of the list. `isOver` for what no longer counts: revoked, disabled. */
export function Row({ isOver, children }: { isOver?: boolean; children: ComponentChildren }) {
  return (
    <tr class={isOver ? "is-over" : undefined} role="row">
      {children}
    </tr>
  );
}

interface CellProps {
  /** The column's label, for narrow screens; without one the value stands alone. */
  label?: string;
  isNumeric?: boolean;
  children?: ComponentChildren;
}

export function Cell({ label, isNumeric, children }: CellProps) {
  return (
    <td role="cell" class={isNumeric ? "numeric" : undefined} data-label={label}>
      <div class="cell">{children}</div>
    </td>
  );
}

/** The name of a row's thing, which leads to it: the whole row is the link. */
export function RowLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="row-link" href={safeHref(href)}>
      {children}
    </a>
  );
}

/** The second line of a cell. */
export function CellNote({ children }: { children: ComponentChildren }) {
  return <div class="cell-note">{children}</div>;
}

/** A few words of a cell, which are not broken where the table has room for them. */
export function OneLine({ children }: { children: ComponentChildren }) {
  return <span class="one-line">{children}</span>;
}
