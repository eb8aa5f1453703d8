import type { ComponentChildren } from "preact";
import { Button, ButtonLink } from "./button";
import { Actions, Form } from "./form";

interface DialogFormProps {
  title: string;
  /** Path of this site that the form is submitted to. */
  action: string;
  /** Values that are sent along. */
  hidden?: Readonly<Record<string, string>>;
  /** On the button that does it: "Revoke key", never "OK". */
  button: string;
  /** True if the action is destructive. */
  isDanger?: boolean;
  /** The screen to go back to. */
  cancelHref: string;
  /** On the way back. */
  cancel?: string;
  /** Consequences of the action, and fields if it needs input. */
  children: ComponentChildren;
}

/**
 * A page's whole question, which a dialog can show too: a link with `dialog` fetches the page and
 * takes this part. It holds the page's only `h1`.
 */
export function DialogForm(props: DialogFormProps) {
  const { title, action, hidden, button, isDanger, cancelHref, cancel = "Cancel" } = props;
  return (
    <section class="card dialog-body" data-dialog-body>
      <h1 id="dialog-title" tabIndex={-1}>
        {title}
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
