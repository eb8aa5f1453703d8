import type { ComponentChildren } from "preact";
import { Actions, Button, ButtonLink, Form, PageHead } from "../../ui";
import type { FormDefinition, FormState, ValuesOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";

interface FormProps<Body, Context, Fields> {
  form: FormDefinition<Body, Context, Fields>;
  state: FormState<ValuesOf<Fields>, Context>;
  /** Path that the form is posted to. Its preview is at `preview` below. */
  action: string;
  /** Name and value of the main button, needed if another button precedes it. */
  enter?: { name?: string; value?: string };
}

interface FormScreenProps<Body, Context, Fields> extends FormProps<Body, Context, Fields> {
  title: string;
  /** Way to the screen. "Cancel" leads to the last one. */
  crumbs: readonly { href: string; label: string }[];
  /** Purpose of the form, in a sentence. */
  intro?: ComponentChildren;
  /** Buttons, the main one first. */
  children: ComponentChildren;
}

/** Screen with one form. */
export function FormScreen<Body, Context, Fields>(props: FormScreenProps<Body, Context, Fields>) {
  const { form, state, action, enter, title, crumbs, intro, children } = props;
  return (
    <>
      <PageHead title={title} crumbs={crumbs}>
        {intro}
      </PageHead>
      <Form action={action} hidden={state.hidden} {...(enter ? { enter } : {})}>
        <FormFields form={form} state={state} />
        <Actions>
          {children}
          <ButtonLink href={crumbs.at(-1)?.href ?? ""}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Form for the next update of an incident or a maintenance. */
export function UpdateForm<Body, Context, Fields>(
  props: FormProps<Body, Context, Fields> & {
    /** Main button; by default "Publish update". */
    children?: ComponentChildren;
  },
) {
  const { form, state, action, enter, children } = props;
  return (
    <Form action={action} hidden={state.hidden} {...(enter ? { enter } : {})}>
      <FormFields form={form} state={state} />
      <Actions>
        {children ?? <Button kind="primary">Publish update</Button>}
        <Button previewAction={`${action}/preview`}>Preview</Button>
      </Actions>
    </Form>
  );
}
