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
  RadioList,
  FormNotice,
  Section,
} from "../../ui";
import type { Complaints } from "../field-errors";
import { userPath, USERS_PATH } from "../paths";
import { ROLE_CHOICES } from "./role-choice";

const LAST_OWNER =
  "The last owner keeps this role and cannot be disabled. First make another user an owner.";

/** One user: the role, a new link, the end. */
export function UserDetail(props: {
  user: UserResource;
  isSelf: boolean;
  /** Whether the user is the last owner, who can be neither disabled nor given another role. */
  isLast: boolean;
  /** About the `role`, and about the `user` as a whole where a change was refused. */
  complaints: Complaints;
  formToken: string;
  now: number;
}) {
  const { user, isSelf, isLast, complaints, formToken, now } = props;
  return (
    <>
      <PageHead
        title={user.name}
        crumbs={[{ href: USERS_PATH, label: "Users" }]}
        actions={
          user.disabled_at ? (
            <PostButton action={`${userPath(user.id)}/enable`}>Enable user</PostButton>
          ) : isLast ? undefined : (
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
      {complaints["user"] ? <FormNotice>{complaints["user"]}</FormNotice> : null}
      <Section title="Role">
        <Form action={`${userPath(user.id)}/role`}>
          <RadioList
            legend="Role"
            isLegendHidden
            name="role"
            options={ROLE_CHOICES}
            value={user.role}
            hint={isLast ? LAST_OWNER : undefined}
            error={complaints["role"]}
          />
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
