import { capitalised } from "../../../base/text";
import { State } from "../../../ui/blocks";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { MAIL_PATH, userPath, USERS_PATH } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { CellNote, type DataColumn, DataTable, OneLine, RowLink } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import { describeMissing, type MailReadiness } from "../../mail/settings";
import { stateOfUser } from "../rules";
import type { UserResource } from "../wire";

/** Settings → Users. */
export function UserList(props: {
  users: readonly UserResource[];
  /** Returns true if the last account mail to a user did not go out. */
  hasTrouble: (id: string) => boolean;
  isResetMailOn: boolean;
  readiness: MailReadiness;
  now: number;
}) {
  const { users, hasTrouble, isResetMailOn, readiness, now } = props;
  return (
    <>
      <PageHead
        title="Users"
        actions={
          <ButtonLink href={`${USERS_PATH}/new`} kind="primary">
            <Icon name="plus" />
            Invite user
          </ButtonLink>
        }
      />
      <DataTable
        caption="Users"
        columns={columnsAt(now, hasTrouble)}
        entries={users}
        isOver={({ disabled_at }) => disabled_at !== null}
      />
      <ResetMailsCard isOn={isResetMailOn} readiness={readiness} />
    </>
  );
}

function columnsAt(now: number, hasTrouble: (id: string) => boolean): DataColumn<UserResource>[] {
  return [
    {
      label: "User",
      cell: ({ id, name, email }) => (
        <>
          <RowLink href={userPath(id)}>{name}</RowLink>
          <CellNote>{email}</CellNote>
        </>
      ),
    },
    { label: "Role", cell: ({ role }) => capitalised(role) },
    {
      label: "Last signed in",
      cell: ({ last_login_at }) =>
        last_login_at ? (
          <RelativeTime at={last_login_at} now={now} />
        ) : (
          <span class="quiet-text">Never</span>
        ),
    },
    {
      label: "State",
      cell: (user) => (
        <>
          <OneLine>
            <UserState user={user} />
          </OneLine>
          {hasTrouble(user.id) ? <CellNote>Mail not sent</CellNote> : null}
        </>
      ),
    },
  ];
}

/** State of a user: active, invited or disabled. */
export function UserState({ user }: { user: UserResource }) {
  const state = stateOfUser(user);
  switch (state) {
    case "active":
      return <State tone="ok">Active</State>;
    case "invited":
      return <State tone="none">Invited</State>;
    case "disabled":
      return (
        <State tone="none" isPaused>
          Disabled
        </State>
      );
  }
}

/** Card with which owners decide if users get links for new passwords by mail. */
function ResetMailsCard({ isOn, readiness }: { isOn: boolean; readiness: MailReadiness }) {
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
