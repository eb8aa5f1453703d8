import { Actions, Button, ButtonLink, Form, PageHead } from "../../ui";
import { FormFields, type StateOf } from "../forms/form";
import { USERS_PATH } from "../paths";
import { INVITE_FORM } from "./forms";

/** Settings → Users → Invite user. */
export function InviteUser(props: { state: StateOf<typeof INVITE_FORM>; formToken: string }) {
  return (
    <>
      <PageHead title="Invite user" crumbs={[{ href: USERS_PATH, label: "Users" }]} />
      <Form action={`${USERS_PATH}/new`} hidden={{ form: props.formToken }}>
        <FormFields form={INVITE_FORM} state={props.state} />
        <Actions>
          <Button kind="primary">Create invitation link</Button>
          <ButtonLink href={USERS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
