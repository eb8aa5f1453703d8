import type { ComponentChildren } from "preact";
import { Button } from "./button";
import { fieldId } from "./field";
import { HiddenFields } from "./form";
import { safeHref } from "./safe-href";

interface SearchFormProps {
  /** A path of this site; the term comes in its query, as `q`. */
  action: string;
  value: string;
  /** Label of the search field, in full. */
  label: string;
  /** The same in a word or two, for where there is little room. */
  placeholder: string;
  /** Other parameters of the query that are to stay. */
  hidden?: Readonly<Record<string, string>>;
  /** `FilterSelect`s. */
  children?: ComponentChildren;
  /** True if a filter is active. */
  isFiltered?: boolean;
}

/** Searches a list by its address, so that a search can be kept and shared. */
export function SearchForm(props: SearchFormProps) {
  const { action, value, label, placeholder, hidden = {}, children, isFiltered = false } = props;
  const rest = new URLSearchParams(hidden).toString();
  return (
    <form
      class={children ? "search has-filters" : "search"}
      role="search"
      method="get"
      action={safeHref(action)}
    >
      <HiddenFields values={hidden} />
      <label class="visually-hidden" for={fieldId("q")}>
        {label}
      </label>
      <input
        class="input"
        type="search"
        id={fieldId("q")}
        name="q"
        value={value}
        placeholder={placeholder}
        title={label}
        autocomplete="off"
      />
      {children}
      <Button>Search</Button>
      {value === "" && !isFiltered ? null : (
        <a class="search-clear" href={safeHref(rest === "" ? action : `${action}?${rest}`)}>
          Show all
        </a>
      )}
    </form>
  );
}
