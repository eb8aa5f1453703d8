import { FieldGroup, type FieldProps } from "./field";
import { type Option, OptionRows } from "./option-rows";

interface RadioListProps extends Omit<FieldProps, "label"> {
  legend: string;
  /** True if a heading repeats the legend, which is then read out only. */
  isLegendHidden?: boolean;
  options: readonly Omit<Option, "isChecked">[];
  value: string;
}

/** One of several, each with its sentence. `ChoiceField` is for those that need none. */
export function RadioList({ legend, options, value, ...rest }: RadioListProps) {
  const field = { ...rest, label: legend };
  return (
    <FieldGroup {...field}>
      <OptionRows
        type="radio"
        name={field.name}
        error={field.error}
        options={options.map((option) => ({ ...option, isChecked: option.value === value }))}
      />
    </FieldGroup>
  );
}
