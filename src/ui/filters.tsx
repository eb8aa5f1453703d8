import type { ComponentChildren } from "preact";
import { Button } from "./buttons";
import { fieldId } from "./field";
import { HiddenFields } from "./form";
import { safeHref } from "./safe-href";
import { Select } from "./selects";

/** Row above a list, with its search and its number of entries. */
export function Toolbar({ children }: { children: ComponentChildren }) {
  return <div class="toolbar">{children}</div>;
}

interface SearchFormProps {
  /** Path of this site. The search term is its query parameter `q`. */
  action: string;
  value: string;
  /** Label of the search field, in full. */
  label: string;
  /** Label of the search field, in a word or two. */
  placeholder: string;
  /** Other query parameters, which the search keeps. */
  hidden?: Readonly<Record<string, string>>;
  /** `FilterSelect`s and `FilterDate`s. */
  children?: ComponentChildren;
  /** True with `FilterDate`s: with several texts, a browser submits a form only by its button. */
  hasDates?: boolean;
  /** True if a filter is active. */
  isFiltered?: boolean;
}

/** Search of a list by query parameters, so that its address can be shared. */
export function SearchForm(props: SearchFormProps) {
  const { action, value, label, placeholder, hidden = {}, children, isFiltered = false } = props;
  const { hasDates = false } = props;
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
      {hasDates ? (
        <Button>Search</Button>
      ) : (
        <noscript>
          <Button>Search</Button>
        </noscript>
      )}
      {value === "" && !isFiltered ? null : (
        <a class="search-clear" href={safeHref(rest === "" ? action : `${action}?${rest}`)}>
          Show all
        </a>
      )}
    </form>
  );
}

interface FilterSelectProps {
  /** Property that the list is filtered by. Only screen readers read it; the selected option shows it. */
  label: string;
  name: string;
  options: readonly { value: string; label: string }[];
  value: string;
}

/** Select that filters a list, in a `SearchForm` or a `ListToolbar`. A change submits its form. */
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

/** Date that filters a list, in a `SearchForm`. */
export function FilterDate({ label, name, value }: FilterDateProps) {
  return (
    <div class="filter-date">
      <label for={fieldId(name)}>{label}</label>
      <input class="input" type="date" id={fieldId(name)} name={name} value={value} />
    </div>
  );
}
