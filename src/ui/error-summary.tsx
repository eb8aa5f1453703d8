import { errorSuffix, fieldId } from "./field";
import { ToneIcon } from "./tone-icon";

interface FormErrorsProps {
  /**
   * `name` is the field's, `label` what people see, `detail` what is wrong with it, as in a field's
   * `error`. Nothing is shown without any.
   */
  errors: readonly { name: string; label: string; detail: string }[];
  /** True if the summary takes the focus when the page loads, which is the default. */
  autofocus?: boolean;
}

/** Errors of a form, listed above its fields. Each line links to its field. */
export function ErrorSummary({ errors, autofocus = true }: FormErrorsProps) {
  if (errors.length === 0) return null;
  return (
    <div class="notice tone-danger" role="alert" tabIndex={-1} autofocus={autofocus}>
      <ToneIcon tone="danger" />
      <div class="notice-text">
        <p class="strong">Please correct {errors.length === 1 ? "this field" : "these fields"}</p>
        <ul class="plain-list">
          {errors.map(({ name, label, detail }) => (
            <li key={name}>
              <a href={`#${fieldId(name)}`}>{label}</a>
              {errorSuffix(detail)}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
