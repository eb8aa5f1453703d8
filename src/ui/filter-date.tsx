import { fieldId } from "./field";

interface FilterDateProps {
  /** In a word, since it is seen: "From". */
  label: string;
  name: string;
  /** `YYYY-MM-DD`, or empty. */
  value: string;
}

/** Narrows a list to days, within its `SearchForm`. */
export function FilterDate({ label, name, value }: FilterDateProps) {
  return (
    <div class="filter-date">
      <label for={fieldId(name)}>{label}</label>
      <input class="input" type="date" id={fieldId(name)} name={name} value={value} />
    </div>
  );
}
