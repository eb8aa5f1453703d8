import { Actions, Button, ButtonLink, Form, PageHead } from "../../ui";
import type { StateOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { USERS_PATH } from "../paths";
import { INVITE_FORM } from "./forms";

/** Settings → Users → Invite user. */
export function InviteUser({ state }: { state: StateOf<typeof INVITE_FORM> }) {
  return (
    <>
      <PageHead title="Invite user" crumbs={[{ href: USERS_PATH, label: "Users" }]} />
      <Form action={`${USERS_PATH}/new`} hidden={state.hidden}>
        <FormFields form={INVITE_FORM} state={state} />
        <Actions>
          <Button kind="primary">Create invitation link</Button>
          <ButtonLink href={USERS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
