import type { ComponentChildren } from "preact";
import { zoneLabel } from "../base/zones";
import { Button, ButtonLink, type ButtonProps, safeHref } from "./buttons";
import { Select } from "./choices";
import { controlAttributes, Field, FieldGroup, fieldId, type FieldProps } from "./field";
import { Icon } from "./icons";
import { useZone } from "./times";

interface FormProps {
  /** Path of this site that the form is posted to. */
  action: string;
  /** Further values that are submitted. */
  hidden?: Readonly<Record<string, string>>;
  /**
   * Name and value of the main button, needed if another button precedes it, since Enter presses a
   * form's first button.
   */
  enter?: EnterButtonProps;
  /** True if the form has a `FileField`. */
  sendsFiles?: boolean;
  /** True if the form fills a card: it has a head and a foot of its own. */
  isComposer?: boolean;
  /** True if the form is a card, which has a body and a foot. */
  isCard?: boolean;
  children: ComponentChildren;
}

/** Form that is posted. Only the server validates it, so that all errors look the same. */
export function Form(props: FormProps) {
  const { action, hidden, enter, sendsFiles, isComposer, isCard, children } = props;
  const encoding = sendsFiles ? "multipart/form-data" : undefined;
  return (
    <form
      class={isComposer ? "composer" : isCard ? "card form-card" : "form"}
      method="post"
      action={safeHref(action)}
      enctype={encoding}
      noValidate
    >
      <HiddenFields values={hidden} />
      {enter ? <EnterButton {...enter} /> : null}
      {children}
    </form>
  );
}

/** Hidden inputs, one for each value. */
export function HiddenFields({ values }: { values: Readonly<Record<string, string>> | undefined }) {
  return (
    <>
      {Object.entries(values ?? {}).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

type EnterButtonProps = Pick<ButtonProps, "name" | "value">;

/** Invisible first button of a form, pressed by Enter. Tab skips it. */
function EnterButton({ name, value }: EnterButtonProps) {
  return (
    <button
      class="enter-button visually-hidden"
      type="submit"
      name={name}
      value={value}
      tabIndex={-1}
      aria-hidden="true"
    />
  );
}

/** Row of buttons, the main one first. */
export function Actions({ children }: { children: ComponentChildren }) {
  return <div class="actions">{children}</div>;
}

interface DialogFormProps {
  /** Title of the page, which becomes a question before a destructive action. */
  title: string;
  /** Path of this site that the form is posted to. */
  action: string;
  /** Further values that are submitted. */
  hidden?: Readonly<Record<string, string>>;
  /** Text of the main button: verb and object, such as "Revoke key". */
  button: string;
  /** True if the action is destructive. */
  isDanger?: boolean;
  /** Screen to return to. */
  cancelHref: string;
  /** Text of the link to that screen; "Cancel" by default. */
  cancel?: string;
  /** Consequences of the action, and fields if it needs input. */
  children: ComponentChildren;
}

/**
 * Confirmation of an action, with the only `h1` of its page. A `ButtonLink` with `dialog` fetches the
 * page and shows this part in a dialog.
 */
export function DialogForm(props: DialogFormProps) {
  const { title, action, hidden, button, isDanger, cancelHref, cancel = "Cancel" } = props;
  return (
    <section class="card dialog-body" data-dialog-body>
      <h1 id="dialog-title" tabIndex={-1}>
        {isDanger ? `${title}?` : title}
      </h1>
      <Form action={action} hidden={hidden}>
        {props.children}
        <Actions>
          <Button kind={isDanger ? "danger" : "primary"}>{button}</Button>
          <ButtonLink href={cancelHref} closesDialog>
            {cancel}
          </ButtonLink>
        </Actions>
      </Form>
    </section>
  );
}

interface Named {
  /** Name of the control's field. */
  name: string;
  /** Name of the column, read out after the row's label. Visible only next to a checkbox. */
  label: string;
}

/** Control of a row. */
export type RowControl =
  | (Named & { kind: "text"; value: string; placeholder?: string; maxlength?: number })
  | (Named & {
      kind: "select";
      value: string;
      options: readonly { value: string; label: string }[];
    })
  | (Named & { kind: "check"; isChecked: boolean })
  /** A value that cannot be changed, with further values that are submitted. */
  | (Named & { kind: "fixed"; value: string; sends?: Readonly<Record<string, string>> });

interface FieldRowsProps extends Omit<FieldProps, "label"> {
  legend: string;
  /** Rows with labels such as "Header 1", which only screen readers read. */
  rows: readonly {
    label: string;
    controls: readonly RowControl[];
    /** True if the error concerns this row. */
    isWrong?: boolean;
  }[];
}

/** List of entries, each a row of controls. */
export function FieldRows({ legend, rows, ...field }: FieldRowsProps) {
  return (
    <FieldGroup {...field} label={legend}>
      {rows.length === 0 ? null : (
        <ul class="card field-rows">
          {rows.map(({ label, controls, isWrong = false }) => (
            <li key={label}>
              {controls.map((control) => (
                <Control key={control.name} control={control} row={label} isWrong={isWrong} />
              ))}
            </li>
          ))}
        </ul>
      )}
    </FieldGroup>
  );
}

interface ControlProps {
  control: RowControl;
  row: string;
  isWrong: boolean;
}

function Control({ control, row, isWrong }: ControlProps) {
  const { name } = control;
  const id = fieldId(name);
  const label = `${row}: ${control.label}`;
  const common = {
    id,
    name,
    title: control.label,
    "aria-label": label,
    "aria-invalid": isWrong ? ("true" as const) : undefined,
  };
  switch (control.kind) {
    case "text":
      return (
        <input
          class="input"
          type="text"
          value={control.value}
          placeholder={control.placeholder ?? control.label}
          maxlength={control.maxlength}
          autocomplete="off"
          {...common}
        />
      );
    case "select":
      return (
        <div class="select">
          <Select options={control.options} selected={control.value} {...common} />
        </div>
      );
    case "check":
      return (
        <label class="row-check">
          <input
            type="checkbox"
            id={id}
            name={name}
            value="yes"
            checked={control.isChecked}
            aria-label={label}
          />
          {control.label}
        </label>
      );
    case "fixed":
      return (
        <span class="row-fixed">
          <HiddenFields values={{ [name]: control.value, ...control.sends }} />
          <code>{control.value}</code>
        </span>
      );
  }
}

interface TextFieldProps extends FieldProps {
  value?: string | undefined;
  type?: "text" | "email" | "password" | "url" | "date" | "time";
  required?: boolean;
  autocomplete?:
    "username" | "current-password" | "new-password" | "one-time-code" | "name" | "email" | "off";
  inputmode?: "numeric";
  maxlength?: number;
  /** First day that can be chosen in a date field. */
  min?: string;
  autofocus?: boolean;
  /** True for a number or a date, which does not need the whole line. */
  isShort?: boolean;
  /** True for a last day in the time zone of the reader. A script shows its end in other zones. */
  isLastDay?: boolean;
  /** Common values, offered while typing. */
  suggestions?: readonly string[] | undefined;
  /** Name of the field whose text a script proposes here as a slug, until the slug is edited. */
  slugOf?: string;
}

/** One line of text. A password is never redisplayed. */
export function TextField(props: TextFieldProps) {
  const { label, name, hint, error, value, type = "text", isShort, ...more } = props;
  const { suggestions, slugOf, isLastDay, ...rest } = more;
  const field = { label, name, hint, error };
  const control = controlAttributes(field);
  const zone = useZone();
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
        data-zone={isLastDay ? zoneLabel(zone) : undefined}
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
        // Certificates and the like run from left to right.
        dir={isPasted ? undefined : "auto"}
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
