import { controlAttributes, Field, type FieldProps } from "./field";

export interface TextFieldProps extends FieldProps {
  value?: string | undefined;
  type?: "text" | "email" | "password" | "url" | "date" | "datetime-local";
  required?: boolean;
  autocomplete?:
    "username" | "current-password" | "new-password" | "name" | "email" | "url" | "off";
  inputmode?: "text" | "numeric" | "email" | "url";
  maxlength?: number;
  /** Bounds of a date. */
  min?: string;
  max?: string;
  autofocus?: boolean;
  /** For a number or a date, which needs no whole line. */
  isShort?: boolean;
}

/** A line of text. What was typed comes back as `value`; a password never does. */
export function TextField(props: TextFieldProps) {
  const { label, name, hint, error, value, type = "text", isShort, ...rest } = props;
  const field = { label, name, hint, error };
  return (
    <Field {...field}>
      <input
        class={isShort ? "input short" : "input"}
        // One of them: the types of preact want to know which.
        type={type as "text"}
        value={type === "password" ? undefined : value}
        {...rest}
        {...controlAttributes(field)}
      />
    </Field>
  );
}
