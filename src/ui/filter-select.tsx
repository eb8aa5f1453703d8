import { fieldId } from "./field";

interface FilterSelectProps {
  /** Property that the list is filtered by. Read out only, since the selected option shows it. */
  label: string;
  name: string;
  options: readonly { value: string; label: string }[];
  value: string;
}

/** Narrows a list, within its `SearchForm`. */
export function FilterSelect({ label, name, options, value }: FilterSelectProps) {
  return (
    <div class="select">
      <label class="visually-hidden" for={fieldId(name)}>
        {label}
      </label>
      <select class="input" id={fieldId(name)} name={name} title={label}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
