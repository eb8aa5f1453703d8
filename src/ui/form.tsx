import type { ComponentChildren } from "preact";
import { Button, ButtonLink, type ButtonProps } from "./buttons";
import { safeHref } from "./safe-href";

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
  children: ComponentChildren;
}

/** Form that is posted. Only the server validates it, so that all errors look the same. */
export function Form(props: FormProps) {
  const { action, hidden, enter, sendsFiles, isComposer, children } = props;
  const encoding = sendsFiles ? "multipart/form-data" : undefined;
  return (
    <form
      class={isComposer ? "composer" : "form"}
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
