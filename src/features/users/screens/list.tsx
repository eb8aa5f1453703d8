import type { ComponentChildren } from "preact";
import { type Role, ROLE_SENTENCES, ROLES } from "../../../base/actor";
import { capitalised } from "../../../base/text";
import { State } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { RadioList } from "../../../ui/choices";
import { choiceField, nameField, textField } from "../../../ui/forms/fields";
import { defineForm } from "../../../ui/forms/form";
import { userPath, USERS_PATH } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { Cell, CellNote, OneLine, Row, RowLink, Table } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import { stateOfUser } from "../rules";
import type { NewUser, UserResource } from "../wire";

const COLUMNS = [
  { label: "User" },
  { label: "Role" },
  { label: "Last signed in" },
  { label: "State" },
];

/** Settings → Users. */
export function UserList(props: {
  users: readonly UserResource[];
  /** Returns true if the last account mail to a user did not go out. */
  hasTrouble: (id: string) => boolean;
  resetMails: ComponentChildren;
  now: number;
}) {
  const { users, hasTrouble, resetMails, now } = props;
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
      <Table columns={COLUMNS} caption="Users">
        {users.map((user) => (
          <Row key={user.id} isOver={user.disabled_at !== null}>
            <Cell>
              <RowLink href={userPath(user.id)}>{user.name}</RowLink>
              <CellNote>{user.email}</CellNote>
            </Cell>
            <Cell label="Role">{capitalised(user.role)}</Cell>
            <Cell label="Last signed in">
              {user.last_login_at ? (
                <RelativeTime at={user.last_login_at} now={now} />
              ) : (
                <span class="quiet-text">Never</span>
              )}
            </Cell>
            <Cell label="State">
              <OneLine>
                <UserState user={user} />
              </OneLine>
              {hasTrouble(user.id) ? <CellNote>Mail not sent</CellNote> : null}
            </Cell>
          </Row>
        ))}
      </Table>
      {resetMails}
    </>
  );
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

const ROLE_OPTIONS = ROLES.map((role) => ({
  value: role,
  label: capitalised(role),
  hint: ROLE_SENTENCES[role],
}));

const roleField = choiceField<Role>({ label: "Role", initial: "editor", options: ROLE_OPTIONS });

/** Screen data of the form for a new user. */
interface InviteContext {
  /** True if the invitation is mailed. */
  isMailed: boolean;
}

const emailField = (hint: string) =>
  textField({ label: "E-mail", type: "email", hint, isRequired: true });

const MAILED = emailField("Used for signing in. The invitation is sent to this address.");
const NOT_MAILED = emailField(
  "Used for signing in. E-mail is not set up, so send the invitation link yourself.",
);

export const INVITE_FORM = defineForm<NewUser, InviteContext>()({
  email: {
    ...MAILED,
    Input: ({ context, ...props }) =>
      context.isMailed ? (
        <MAILED.Input {...props} context={context} />
      ) : (
        <NOT_MAILED.Input {...props} context={context} />
      ),
  },
  name: nameField({ hint: "The user can change it when joining." }),
  role: roleField,
});

const LAST_OWNER =
  "The last owner cannot get another role or be disabled. First make another user an owner.";

export const ROLE_FORM = defineForm<{ role: Role }, { isLastOwner: boolean }>()({
  role: {
    ...roleField,
    Input: ({ name, value, errors, context }) => (
      <RadioList
        legend="Role"
        isLegendHidden
        name={name}
        options={ROLE_OPTIONS}
        value={value}
        hint={context.isLastOwner ? LAST_OWNER : undefined}
        error={errors[name]}
      />
    ),
  },
});
