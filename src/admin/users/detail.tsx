import { stateOfUser, type UserResource } from "../../features/users";
import { capitalised } from "../../kernel/text";
import {
  Actions,
  Button,
  ButtonLink,
  Form,
  RelativeTime,
  PageHead,
  PostButton,
  Section,
} from "../../ui";
import type { StateOf } from "../forms/form";
import { FormInputs } from "../forms/form-fields";
import { userPath, USERS_PATH } from "../paths";
import { ROLE_FORM } from "./forms";

/** One user, with forms that change the role, create a one-time link and disable the user. */
export function UserDetail(props: {
  user: UserResource;
  isSelf: boolean;
  role: StateOf<typeof ROLE_FORM>;
  formToken: string;
  now: number;
}) {
  const { user, isSelf, role, formToken, now } = props;
  return (
    <>
      <PageHead
        title={user.name}
        crumbs={[{ href: USERS_PATH, label: "Users" }]}
        actions={
          user.disabled_at ? (
            <PostButton action={`${userPath(user.id)}/enable`}>Enable user</PostButton>
          ) : role.context.isLastOwner ? undefined : (
            <ButtonLink href={`${userPath(user.id)}/disable`} kind="danger" dialog>
              Disable
            </ButtonLink>
          )
        }
      >
        {user.email} · {capitalised(stateOfUser(user))}
        {user.last_login_at ? (
          <>
            {" "}
            · last signed in <RelativeTime at={user.last_login_at} now={now} />
          </>
        ) : null}
        {isSelf ? " · this is you" : null}
      </PageHead>
      <Section title="Role">
        <Form action={`${userPath(user.id)}/role`} hidden={role.hidden}>
          <FormInputs form={ROLE_FORM} state={role} />
          <Actions>
            <Button>Save role</Button>
          </Actions>
        </Form>
      </Section>
      {user.disabled_at ? null : <LinkForm user={user} formToken={formToken} />}
    </>
  );
}

function LinkForm({ user, formToken }: { user: UserResource; formToken: string }) {
  return (
    <Section title={user.has_password ? "Forgotten password" : "Invitation"}>
      <Form action={`${userPath(user.id)}/link`} hidden={{ form: formToken }}>
        <p class="muted">
          {user.has_password
            ? "Creates a link for choosing a new password. The current password works until then."
            : "Creating another link replaces the earlier one."}
        </p>
        <Actions>
          <Button>{user.has_password ? "Create reset link" : "Create invitation link"}</Button>
        </Actions>
      </Form>
    </Section>
  );
}
