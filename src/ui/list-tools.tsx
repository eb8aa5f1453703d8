import type { ComponentChildren } from "preact";
import { Button } from "./buttons";
import { fieldId } from "./field";
import { HiddenFields } from "./form";
import { Icon } from "./icons";
import { safeHref } from "./safe-href";

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
  /** `FilterSelect`s that submit the form, and `FilterDate`s. */
  children?: ComponentChildren;
  /** True with `FilterDate`s: with several texts, a browser submits a form only by its button. */
  hasDates?: boolean;
}

/** Card of a list: its `ListToolbar`, its rows or an empty state, and links to its other parts. */
export function ListCard({ children }: { children: ComponentChildren }) {
  return <div class="card table-card list-card">{children}</div>;
}

/** Search and filters of a list, at the top of its card. Without a script a button submits them. */
export function ListToolbar(props: ListToolbarProps) {
  const { action, search, hidden, clearHref, count, hasDates, isCard, children } = props;
  const button = <Button>Show</Button>;
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
      {children}
      {hasDates ? button : <noscript>{button}</noscript>}
      {clearHref === undefined ? null : (
        <a class="list-clear" href={safeHref(clearHref)}>
          Show all
        </a>
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
