import type { ComponentChildren } from "preact";
import { ButtonLink } from "../buttons";
import { Actions, Form } from "../form";
import { FormFields } from "../forms/fields";
import type { FormDefinition, FormState, ValuesOf } from "../forms/form";
import type { Screen } from "../frame/render";
import { PageHead } from "../navigation";

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

interface ShownBefore {
  /** The secret in one word, such as "value". */
  secret: string;
  /** Instruction for a lost secret, such as "rotate the key to get a new one". */
  ifLost: string;
  /** Links to the object of the secret and to its list. */
  object: { href: string; label: string };
  list: { href: string; label: string };
}

/** Answers a form that is submitted again after its secret was shown and is no longer held. */
export function shownBefore({ secret, ifLost, object, list }: ShownBefore): Screen {
  const title = `This ${secret} was already shown`;
  return {
    title,
    children: (
      <>
        <PageHead title={title} crumbs={[list]} />
        <p>
          This form was already submitted. The {secret} was shown then and cannot be shown again.
          Nothing was changed this time.
        </p>
        <p>
          If you did not copy the {secret}, {ifLost}.
        </p>
        <Actions>
          <ButtonLink href={object.href} kind="primary">
            {object.label}
          </ButtonLink>
          <ButtonLink href={list.href}>{list.label}</ButtonLink>
        </Actions>
      </>
    ),
  };
}
