import { controlAttributes, Field, fieldId, type FieldProps } from "./field";

interface TextFieldProps extends FieldProps {
  value?: string | undefined;
  type?: "text" | "email" | "password" | "url" | "date" | "datetime-local";
  required?: boolean;
  autocomplete?: "username" | "current-password" | "new-password" | "name" | "email" | "off";
  inputmode?: "numeric";
  maxlength?: number;
  /** The first day that can be chosen of a date. */
  min?: string;
  autofocus?: boolean;
  /** For a number or a date, which needs no whole line. */
  isShort?: boolean;
  /** Common values, offered while typing. */
  suggestions?: readonly string[];
  /** The name of the field whose text a script proposes here as a slug, until something is typed. */
  slugOf?: string;
}

/** A line of text. What was typed comes back as `value`; a password never does. */
export function TextField(props: TextFieldProps) {
  const { label, name, hint, error, value, type = "text", isShort, ...more } = props;
  const { suggestions, slugOf, ...rest } = more;
  const field = { label, name, hint, error };
  const listId = suggestions ? `${fieldId(name)}-list` : undefined;
  return (
    <Field {...field}>
      <input
        class={isShort ? "input short" : "input"}
        // One of them: the types of preact want to know which.
        type={type as "text"}
        value={type === "password" ? undefined : value}
        list={listId}
        data-slug-of={slugOf}
        {...rest}
        {...controlAttributes(field)}
      />
      {suggestions ? (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      ) : null}
    </Field>
  );
}
