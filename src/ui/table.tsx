import type { ComponentChildren } from "preact";
import { safeHref } from "./safe-href";

/** Column of a `Table`. */
interface Column {
  label: string;
  isNumeric?: boolean;
  /** True if only screen readers read the label, such as above a column of buttons. */
  isHidden?: boolean;
}

interface TableProps {
  columns: readonly Column[];
  /** Title for screen readers. */
  caption?: string;
  /** True if a `ListCard` or `DetailCard` surrounds the table. */
  isInCard?: boolean;
  /** `Row`s of `Cell`s. */
  children: ComponentChildren;
}

/**
 * Table that shows each row as a block of labelled values if it is narrow. Browsers then drop the roles
 * of its elements, so these are written out.
 */
export function Table({ columns, caption, isInCard, children }: TableProps) {
  const table = (
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
    <a class="row-link" href={safeHref(href)}>
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
