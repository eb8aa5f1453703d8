import type { ComponentChildren } from "preact";
import { Actions, Form } from "../../ui/form";
import { ButtonLink } from "../../ui/buttons";
import { PageHead } from "../../ui/navigation";
import type { FormDefinition, FormState, ValuesOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";

interface FormScreenProps<Body, Context, Fields> {
  title: string;
  /** Way to the screen. "Cancel" leads to the last one with an address. */
  crumbs: readonly { href?: string; label: string }[];
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  /** Purpose of the form, in a sentence. */
  intro?: ComponentChildren;
  /** Content between the heading and the form. */
  above?: ComponentChildren;
  form: FormDefinition<Body, Context, Fields>;
  state: FormState<ValuesOf<Fields>, Context>;
  /** Path that the form is posted to. */
  action: string;
  /** Name and value of the main button, needed if another button precedes it. */
  enter?: { name?: string; value?: string };
  /** Sentence above the buttons. */
  foot?: ComponentChildren;
  /** Buttons, the main one first. */
  children: ComponentChildren;
}

/** Screen with one form. */
export function FormScreen<Body, Context, Fields>(props: FormScreenProps<Body, Context, Fields>) {
  const { title, crumbs, actions, intro, above, foot, form, state, action, enter, children } =
    props;
  const back = crumbs.findLast(({ href }) => href !== undefined);
  return (
    <>
      <PageHead title={title} crumbs={crumbs} actions={actions}>
        {intro}
      </PageHead>
      {above}
      <Form action={action} hidden={state.hidden} {...(enter ? { enter } : {})}>
        <FormFields form={form} state={state} />
        {foot ? <p class="hint">{foot}</p> : null}
        <Actions>
          {children}
          <ButtonLink href={back?.href ?? ""}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
