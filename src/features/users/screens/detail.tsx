import { toIso } from "../../../base/time";
import { Card, CodeBlock, Notice, State } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton } from "../../../ui/buttons";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import { Actions, DialogForm, Form } from "../../../ui/form";
import { FormInputs } from "../../../ui/forms/fields";
import type { StateOf } from "../../../ui/forms/form";
import { keyPath, MAIL_PATH, userPath, USERS_PATH } from "../../../ui/frame/paths";
import { PageHead } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import { describeMissing, type MailReadiness } from "../../mail/settings";
import type { MailTrouble } from "../mails";
import type { UserResource } from "../wire";
import { ROLE_FORM, UserState } from "./list";

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

/** Asks before a user is disabled, naming the API keys that keep working. */
export function DisableUser(props: {
  title: string;
  user: UserResource;
  keys: readonly { id: string; name: string }[];
}) {
  const { title, user, keys } = props;
  return (
    <DialogForm
      title={title}
      action={`${userPath(user.id)}/disable`}
      button="Disable user"
      isDanger
      cancelHref={userPath(user.id)}
    >
      <p>
        The user is signed out on all devices and can no longer sign in. You can enable the user
        again.
      </p>
      {keys.length > 0 ? (
        <>
          <p>These API keys of the user keep working until they are revoked:</p>
          <ul class="plain-list">
            {keys.map((key) => (
              <li key={key.id}>
                <a href={keyPath(key.id)}>{key.name}</a>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </DialogForm>
  );
}

/** Screen that shows a one-time link once. */
export function RevealedLink(props: {
  title: string;
  user: UserResource;
  url: string;
  /** Lifetime of the link, such as "7 days". */
  lasts: string;
  /** True if a mail with a link of its own goes to the user. */
  isMailed: boolean;
}) {
  const { title, user, url, lasts, isMailed } = props;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { href: USERS_PATH, label: "Users" },
          { href: userPath(user.id), label: user.name },
        ]}
      />
      <Notice tone="degraded" title="This link is shown only once">
        {isMailed
          ? `A mail to ${user.email} has a link of its own. You can also send this one over a private channel; using one ends the other.`
          : `Send it to ${user.email} over a private channel.`}{" "}
        It works once and expires after {lasts}. A new link replaces this one.
      </Notice>
      <Card title={user.name}>
        <CodeBlock text={url} copyLabel="Copy link" isSecret />
      </Card>
      <Actions>
        <ButtonLink href={USERS_PATH} kind="primary">
          Back to Users
        </ButtonLink>
      </Actions>
    </>
  );
}

const MAIL_NAMES: Readonly<Record<string, string>> = {
  invitation: "invitation",
  password_reset: "mail with a reset link",
  password_changed: "mail about the changed password",
};

/** Explains why the last mail to a user did not go out. */
function MailTroubleNotice({ trouble, now }: { trouble: MailTrouble; now: number }) {
  const { template, isWaiting, reply, at } = trouble;
  const name = MAIL_NAMES[template] ?? "last mail";
  return (
    <Notice
      tone={isWaiting ? "degraded" : "major"}
      title={`The ${name} ${isWaiting ? "waits, and is tried again" : "could not be sent"}`}
    >
      <p>
        {isWaiting ? "Queued" : "Failed"} <RelativeTime at={toIso(at)} now={now} />.
        {reply === null ? "" : ` The relay's reply: ${reply}`}
      </p>
    </Notice>
  );
}

/** Card with which owners decide if users get links for new passwords by mail. */
export function ResetMailsCard({ isOn, readiness }: { isOn: boolean; readiness: MailReadiness }) {
  return (
    <DetailCard
      title="Password resets by e-mail"
      liveId="reset-mails"
      isStill
      end={
        <PostButton action={`${USERS_PATH}/reset-mails`} name="turn" value={isOn ? "off" : "on"}>
          {isOn ? "Turn off" : "Turn on"}
        </PostButton>
      }
    >
      <p>
        <State tone={isOn && readiness.ready ? "ok" : "none"} isPaused={!isOn}>
          {isOn ? (readiness.ready ? "On" : "On, but mail cannot be sent") : "Off"}
        </State>
      </p>
      <p class="detail-note">
        Users who forgot their password can ask for a link on the sign-in screen. It works for an
        hour and ends all of their sessions.
        {readiness.ready ? null : (
          <>
            {" "}
            <a href={MAIL_PATH}>Mail settings</a>: mail needs {describeMissing(readiness.missing)}{" "}
            first.
          </>
        )}
      </p>
    </DetailCard>
  );
}
