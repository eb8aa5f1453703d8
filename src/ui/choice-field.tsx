import type { ComponentChildren } from "preact";
import { FieldGroup, fieldId, type FieldProps } from "./field";

interface ChoiceFieldProps extends Omit<FieldProps, "label"> {
  legend: string;
  options: readonly { value: string; label: string }[];
  value: string;
  /** Content of the last option, shown while that option is selected. */
  children?: ComponentChildren;
}

/** One of a few, all of them in sight. */
export function ChoiceField({ legend, options, value, children, ...rest }: ChoiceFieldProps) {
  const field = { ...rest, label: legend };
  return (
    <FieldGroup {...field}>
      <div class="choice">
        {options.map((option, index) => {
          const id = `${fieldId(field.name)}-${index}`;
          return (
            <span class="choice-option" key={option.value}>
              <input
                type="radio"
                id={id}
                name={field.name}
                value={option.value}
                checked={option.value === value}
              />
              <label for={id}>{option.label}</label>
            </span>
          );
        })}
      </div>
      {children ? <div class="choice-more">{children}</div> : null}
    </FieldGroup>
  );
}
