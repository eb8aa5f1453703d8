import { fieldId } from "./field";
import { Select } from "./selects";

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
