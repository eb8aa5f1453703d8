import type { ComponentChildren } from "preact";
import { FieldGroup, fieldId, type FieldProps } from "./field";

interface CheckboxOption {
  value: string;
  label: string;
  /** A sentence, which a `Summary` of this field repeats while the box is checked. */
  hint?: string;
  /** More about it, below the sentence. */
  details?: ComponentChildren;
  isChecked: boolean;
}

interface CheckboxListProps extends Omit<FieldProps, "label"> {
  legend: string;
  options: readonly CheckboxOption[];
  /** Whether the labels are names that programs use. */
  isCode?: boolean;
}

/** Any of several, each with its sentence. The whole row is the label. */
export function CheckboxList({ legend, options, isCode, ...rest }: CheckboxListProps) {
  const field = { ...rest, label: legend };
  return (
    <FieldGroup {...field}>
      <ul class="card options">
        {options.map((option, index) => {
          const id = `${fieldId(field.name)}-${index}`;
          const hintId = option.hint ? `${id}-hint` : undefined;
          return (
            <li class="option" key={option.value}>
              <input
                type="checkbox"
                id={id}
                name={field.name}
                value={option.value}
                checked={option.isChecked}
                aria-invalid={field.error ? "true" : undefined}
                aria-describedby={hintId}
              />
              <div>
                <label class={isCode ? "mono" : undefined} for={id}>
                  {option.label}
                </label>
                {option.hint ? (
                  <p class="hint" id={hintId}>
                    {option.hint}
                  </p>
                ) : null}
                {option.details}
              </div>
            </li>
          );
        })}
      </ul>
    </FieldGroup>
  );
}
