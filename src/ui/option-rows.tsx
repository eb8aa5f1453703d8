import type { ComponentChildren } from "preact";
import { fieldId, type FieldProps } from "./field";

export interface Option {
  value: string;
  label: string;
  /** A sentence about it. */
  hint?: string;
  /** More about it, below the sentence. */
  details?: ComponentChildren;
  isChecked: boolean;
}

interface OptionRowsProps extends Pick<FieldProps, "name" | "error"> {
  type: "checkbox" | "radio";
  options: readonly Option[];
  /** Number of options of the same field before these. */
  before?: number;
  /** True if the labels are identifiers, set in the code font. */
  isCode?: boolean | undefined;
}

/** Choices below each other, each with its sentence. The whole row is the label. */
export function OptionRows(props: OptionRowsProps) {
  const { type, name, error, options, before = 0, isCode } = props;
  return (
    <ul class="card options">
      {options.map((option, index) => {
        const id = `${fieldId(name)}-${before + index}`;
        const hintId = option.hint ? `${id}-hint` : undefined;
        return (
          <li class="option" key={option.value}>
            <input
              // One of them: the types of preact want to know which.
              type={type as "radio"}
              id={id}
              name={name}
              value={option.value}
              checked={option.isChecked}
              aria-invalid={error ? "true" : undefined}
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
  );
}
