import { controlAttributes, Field, type FieldProps } from "./field";

interface TextAreaProps extends FieldProps {
  value?: string | undefined;
  /** Number of visible lines. The field grows with its text if the browser can. */
  rows?: number;
  /** For a text of many paragraphs: most of the screen is its. */
  isLong?: boolean;
  required?: boolean;
  maxlength?: number;
  autofocus?: boolean;
}

/** Several lines of text. */
export function TextArea({
  label,
  name,
  hint,
  error,
  value,
  rows = 4,
  isLong,
  ...rest
}: TextAreaProps) {
  const field = { label, name, hint, error };
  return (
    <Field {...field}>
      <textarea
        class={isLong ? "input long" : "input"}
        rows={isLong ? 18 : rows}
        value={value && asContent(value)}
        {...rest}
        {...controlAttributes(field)}
      />
    </Field>
  );
}

/** A reader of HTML drops a line's end right behind the tag: one that belongs to the text is written twice. */
function asContent(value: string): string {
  return /^[\r\n]/.test(value) ? `\n${value}` : value;
}
