import type { MailTrouble } from "../../features/users/mails";
import type { UserResource } from "../../features/users/model";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink, PostButton } from "../../ui/buttons";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../ui/detail";
import { RelativeTime } from "../../ui/times";
import { PageHead } from "../../ui/navigation";
import type { StateOf } from "../../ui/forms/form";
import { FormInputs } from "../../ui/forms/fields";
import { userPath, USERS_PATH } from "../../ui/frame/paths";
import { ROLE_FORM } from "./forms";
import { MailTroubleNotice } from "./mail";
import { UserState } from "./state";

/** One user, with forms that change the role, create a one-time link and disable the user. */
export function UserDetail(props: {
  user: UserResource;
  isSelf: boolean;
  role: StateOf<typeof ROLE_FORM>;
  formToken: string;
  /** True if an invitation is mailed. */
  isMailReady: boolean;
  /** Trouble with the last account mail. */
  trouble: MailTrouble | undefined;
  now: number;
}) {
  const { user, isSelf, role, formToken, isMailReady, trouble, now } = props;
  return (
    <>
      <PageHead
        title={user.name}
        crumbs={[{ href: USERS_PATH, label: "Users" }]}
        actions={
          user.disabled_at ? (
            <PostButton action={`${userPath(user.id)}/enable`}>Enable user</PostButton>
          ) : role.context.isLastOwner ? undefined : (
            <MoreMenu label="More actions">
              <ButtonLink href={`${userPath(user.id)}/disable`} kind="danger" dialog>
                Disable
              </ButtonLink>
            </MoreMenu>
          )
        }
      >
        <HeadFacts>
          <UserState user={user} />
          <span>{user.email}</span>
          {user.last_login_at ? (
            <HeadFact icon="clock">
              Last signed in <RelativeTime at={user.last_login_at} now={now} />
            </HeadFact>
          ) : null}
          {isSelf ? <span>This is you</span> : null}
        </HeadFacts>
      </PageHead>
      {trouble ? <MailTroubleNotice trouble={trouble} now={now} /> : null}
      <DetailCard title="Role" liveId="user-role" isStill>
        <Form action={`${userPath(user.id)}/role`} hidden={role.hidden}>
          <FormInputs form={ROLE_FORM} state={role} />
          <Actions>
            <Button>Save role</Button>
          </Actions>
        </Form>
      </DetailCard>
      {user.disabled_at ? null : (
        <LinkForm user={user} formToken={formToken} isMailReady={isMailReady} />
      )}
    </>
  );
}

function LinkForm(props: { user: UserResource; formToken: string; isMailReady: boolean }) {
  const { user, formToken, isMailReady } = props;
  const isMailed = isMailReady && !user.has_password;
  return (
    <DetailCard
      title={user.has_password ? "Forgotten password" : "Invitation"}
      liveId="user-link"
      isStill
    >
      <Form action={`${userPath(user.id)}/link`} hidden={{ form: formToken }}>
        <p class="muted">
          {user.has_password
            ? "A reset link lets the user choose a new password. The current password works until then."
            : `A new invitation link replaces the earlier ones.${isMailed ? ` It is shown, and another is sent to ${user.email}.` : ""}`}
        </p>
        <Actions>
          <Button>
            {user.has_password
              ? "Create reset link"
              : isMailed
                ? "Send invitation again"
                : "Create invitation link"}
          </Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}
