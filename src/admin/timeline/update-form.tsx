import type { ComponentChildren } from "preact";
import { Actions, Button, Form } from "../../ui";
import type { FormDefinition, FormState, ValuesOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";

interface UpdateFormProps<Body, Context, Fields> {
  form: FormDefinition<Body, Context, Fields>;
  state: FormState<ValuesOf<Fields>, Context>;
  /** Path that the form is posted to. Its preview is at `preview` below. */
  action: string;
  /** Name and value of the main button, needed if another button precedes it. */
  enter?: { name?: string; value?: string };
  /** Main button; by default "Publish update". */
  children?: ComponentChildren;
}

/** Form for the next update of an incident or a maintenance. */
export function UpdateForm<Body, Context, Fields>(props: UpdateFormProps<Body, Context, Fields>) {
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
