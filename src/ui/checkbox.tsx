import { fieldId, FieldError, type FieldProps } from "./field";

interface CheckboxProps extends FieldProps {
  isChecked: boolean;
}

/** One question of yes or no. It sends `yes` where it is checked, and nothing elsewhere. */
export function Checkbox({ label, name, hint, error, isChecked }: CheckboxProps) {
  const id = fieldId(name);
  const hintId = hint ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <div class="checkbox">
        <input
          type="checkbox"
          id={id}
          name={name}
          value="yes"
          checked={isChecked}
          aria-invalid={error ? "true" : undefined}
          aria-describedby={
            [hintId, error ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined
          }
        />
        <label for={id}>{label}</label>
      </div>
      {hint ? (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      ) : null}
      <FieldError name={name} label={label} error={error} />
    </div>
  );
}
