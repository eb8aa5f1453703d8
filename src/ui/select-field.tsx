import { controlAttributes, Field, type FieldProps } from "./field";

interface SelectFieldProps extends FieldProps {
  options: readonly { value: string; label: string }[];
  value?: string | undefined;
}

/** One of several, where there is no room to show them all. */
export function SelectField({ options, value, ...field }: SelectFieldProps) {
  return (
    <Field {...field}>
      <div class="select">
        <select class="input" {...controlAttributes(field)}>
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
      </div>
    </Field>
  );
}
