import { isUtcZone } from "../base/time";
import { controlAttributes, Field, fieldId, type FieldProps } from "./field";
import { Icon } from "./icons";
import { zoneTime } from "./times";

interface TextFieldProps extends FieldProps {
  value?: string | undefined;
  type?: "text" | "email" | "password" | "url" | "date" | "datetime-local";
  required?: boolean;
  autocomplete?: "username" | "current-password" | "new-password" | "name" | "email" | "off";
  inputmode?: "numeric";
  maxlength?: number;
  /** First day that can be chosen in a date field. */
  min?: string;
  autofocus?: boolean;
  /** True for a number or a date, which does not need the whole line. */
  isShort?: boolean;
  /** True for a last day in UTC. A script shows its end in the time zone of the reader. */
  isLastDay?: boolean;
  /** Common values, offered while typing. */
  suggestions?: readonly string[];
  /** Name of the field whose text a script proposes here as a slug, until the slug is edited. */
  slugOf?: string;
}

/** One line of text. A password is never redisplayed. */
export function TextField(props: TextFieldProps) {
  const { label, name, hint, error, value, type = "text", isShort, ...more } = props;
  const { suggestions, slugOf, isLastDay, ...rest } = more;
  const field = { label, name, hint, error };
  const control = controlAttributes(field);
  const zonesId = `${control.id}-zones`;
  const describedBy = [control["aria-describedby"], isLastDay ? zonesId : ""].filter(Boolean);
  const listId = suggestions ? `${fieldId(name)}-list` : undefined;
  return (
    <Field {...field}>
      <input
        class={isShort ? "input short" : "input"}
        // A single literal, since preact's types reject a union.
        type={type as "text"}
        value={type === "password" ? undefined : value}
        list={listId}
        data-slug-of={slugOf}
        data-zone={isLastDay ? "" : undefined}
        {...rest}
        {...control}
        aria-describedby={describedBy.join(" ") || undefined}
      />
      {isLastDay ? <p class="hint" id={zonesId} /> : null}
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

interface TextAreaProps extends FieldProps {
  value?: string | undefined;
  /** Number of visible lines. The field grows with its text if the browser can. */
  rows?: number;
  /** True for a text of many paragraphs. The field then takes most of the screen. */
  isLong?: boolean;
  /** True for a text that people paste, such as a certificate. The field does not grow with it. */
  isPasted?: boolean;
  required?: boolean;
  maxlength?: number;
  autofocus?: boolean;
}

/** Several lines of text. */
export function TextArea(props: TextAreaProps) {
  const { label, name, hint, error, value, rows = 4, isLong, isPasted, ...rest } = props;
  const field = { label, name, hint, error };
  return (
    <Field {...field}>
      <textarea
        class={isLong ? "input long" : isPasted ? "input pasted" : "input"}
        rows={isLong ? 18 : rows}
        value={value && textAreaContent(value)}
        {...rest}
        {...controlAttributes(field)}
      />
    </Field>
  );
}

/** Doubles a line break at the start, since HTML parsers ignore the first one of a text area. */
function textAreaContent(value: string): string {
  return /^[\r\n]/.test(value) ? `\n${value}` : value;
}

interface DateTimeFieldProps extends FieldProps {
  /** `YYYY-MM-DDTHH:MM` in UTC, or the invalid text that was typed. */
  value: string;
  /** Time zone of the page, in which the time is repeated below the field. */
  timeZone?: string | undefined;
  required?: boolean;
}

/**
 * Date and time in UTC, which the label must say. A script repeats the typed time in the time zones of
 * the page and of the reader.
 */
export function DateTimeField(props: DateTimeFieldProps) {
  const { value, timeZone = "UTC", required, ...field } = props;
  const at = Date.parse(`${value}Z`);
  const zone = isUtcZone(timeZone) ? undefined : timeZone;
  const control = controlAttributes(field);
  const zonesId = `${control.id}-zones`;
  const describedBy = [control["aria-describedby"], zonesId].filter(Boolean).join(" ");
  return (
    <Field {...field}>
      <input
        class="input moment"
        type="datetime-local"
        value={value}
        required={required}
        autocomplete="off"
        data-zone={zone ?? ""}
        {...control}
        aria-describedby={describedBy}
      />
      <p class="hint" id={zonesId}>
        {zone === undefined || Number.isNaN(at) ? "" : zoneTime(at, zone)}
      </p>
    </Field>
  );
}

interface FileFieldProps extends FieldProps {
  /** Media types that can be selected, such as `image/png`. */
  accept: readonly string[];
  /** Maximum size of the file. A script checks it before the file is sent. */
  maxBytes: number;
}

/** One file, in a `Form` with `sendsFiles`. */
export function FileField({ accept, maxBytes, ...field }: FileFieldProps) {
  const limit = `${maxBytes / 1_024} KiB`;
  return (
    <Field {...field}>
      <input
        class="input"
        type="file"
        accept={accept.join(",")}
        data-max-bytes={maxBytes}
        {...controlAttributes(field)}
      />
      <p class="field-error" role="alert" hidden>
        <Icon name="triangle-alert" />
        <span>The file is larger than {limit}. Select a smaller one.</span>
      </p>
    </Field>
  );
}
