import type { ComponentChildren } from "preact";
import type { UserResource } from "../../features/users/model";
import { capitalised } from "../../base/text";
import { ButtonLink } from "../../ui/buttons";
import { Cell, CellNote, OneLine, Row, RowLink, Table } from "../../ui/list";
import { Icon } from "../../ui/icons";
import { RelativeTime } from "../../ui/times";
import { PageHead } from "../../ui/navigation";
import { userPath, USERS_PATH } from "../../ui/frame/paths";
import { UserState } from "./state";

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
