import { Actions, Button, Form, PageHead } from "../../ui";
import { defineForm, type StateOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { textField } from "../forms/text-fields";
import { GENERAL_PATH } from "../paths";

export const ADDRESS_FORM = defineForm<{ public_address: string }>()({
  public_address: textField({
    label: "Public address",
    type: "url",
    hint: "For example https://status.example.com, without a path. Used in links. Changing from http to https signs out all users. If a wrong address locks you out, start the server with --base-url.",
    isRequired: true,
  }),
});

/** Settings → General: settings of the whole installation. */
export function General(props: { state: StateOf<typeof ADDRESS_FORM>; isFixed: boolean }) {
  const { state, isFixed } = props;
  return (
    <>
      <PageHead title="General" />
      {isFixed ? (
        <p>
          The public address is <code>{state.values.public_address}</code>. The address is set by{" "}
          <code>--base-url</code> or <code>ALLCLEAR_BASE_URL</code>, so it cannot be changed here.
        </p>
      ) : (
        <Form action={GENERAL_PATH}>
          <FormFields form={ADDRESS_FORM} state={state} />
          <Actions>
            <Button kind="primary">Save address</Button>
          </Actions>
        </Form>
      )}
    </>
  );
}
