import { fieldId } from "./field";

interface FilterSelectProps {
  /** What it narrows a list by. Read out, and not seen: what is chosen says it. */
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
