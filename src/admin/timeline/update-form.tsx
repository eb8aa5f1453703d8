import type { ComponentChildren } from "preact";
import { Actions, Form } from "../../ui/form";
import { Button } from "../../ui/buttons";
import { Checkbox } from "../../ui/choices";
import { Icon } from "../../ui/icons";
import type { FormDefinition, FormState, ValuesOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";

interface UpdateFormProps<Body, Context, Fields> {
  title: string;
  /** Menu at the end of the title's line. */
  menu?: ComponentChildren;
  /** Form without the field `notify`, which the foot has. */
  fields: FormDefinition<Body, Context, Fields>;
  state: FormState<ValuesOf<Fields> & { readonly notify: boolean }, Context>;
  /** Path that the form is posted to. Its preview is at `preview` below. */
  action: string;
  /** Label of the field `notify`, such as "Notify 3 webhooks". */
  notifyLabel: string;
  /** Sentence about the subscribers who get a mail. */
  audience?: ComponentChildren;
  /** Main button; by default "Publish update". */
  children?: ComponentChildren;
}

/** Form for the next update of an incident or a maintenance, filling a card. */
export function UpdateForm<Body, Context, Fields>(props: UpdateFormProps<Body, Context, Fields>) {
  const { title, menu, fields, state, action, notifyLabel, audience, children } = props;
  return (
    <Form action={action} hidden={state.hidden} enter={{}} isComposer>
      <div class="detail-head">
        <h2>{title}</h2>
        {menu}
      </div>
      <div class="form detail-body">
        <FormFields form={fields} state={state} />
      </div>
      <div class="composer-foot">
        <Checkbox
          label={notifyLabel}
          name="notify"
          hint={audience}
          isChecked={state.values.notify}
          error={state.errors["notify"]}
        />
        <Actions>
          <Button previewAction={`${action}/preview`}>
            <Icon name="eye" />
            Preview
          </Button>
          {children ?? <Button kind="primary">Publish update</Button>}
        </Actions>
      </div>
    </Form>
  );
}
