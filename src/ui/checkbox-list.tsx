import { FieldGroup, type FieldProps } from "./field";
import { type Option, OptionRows } from "./option-rows";

interface CheckboxListProps extends Omit<FieldProps, "label"> {
  legend: string;
  /** A `Summary` of this field repeats the hints of those that are checked. */
  options: readonly Option[];
  /** True if the labels are identifiers, set in the code font. */
  isCode?: boolean;
}

/** Any of several, each with its sentence. */
export function CheckboxList({ legend, options, isCode, ...rest }: CheckboxListProps) {
  const field = { ...rest, label: legend };
  return (
    <FieldGroup {...field}>
      <OptionRows
        type="checkbox"
        name={field.name}
        error={field.error}
        options={options}
        isCode={isCode}
      />
    </FieldGroup>
  );
}
