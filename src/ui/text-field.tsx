import { controlAttributes, Field, type FieldProps } from "./field";

interface TextFieldProps extends FieldProps {
  value?: string | undefined;
  type?: "text" | "email" | "password" | "url" | "date";
  required?: boolean;
  autocomplete?: "username" | "current-password" | "new-password" | "name" | "email" | "off";
  inputmode?: "numeric";
  maxlength?: number;
  /** The first day that can be chosen of a date. */
  min?: string;
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
