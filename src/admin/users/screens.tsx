import type { UserResource } from "../../features/users";
import { type Role, ROLES } from "../../kernel/role";
import {
  Actions,
  Button,
  ButtonLink,
  Card,
  Cell,
  CellNote,
  ChoiceField,
  CodeBlock,
  DialogBody,
  Form,
  FormErrors,
  Moment,
  Notice,
  PageHead,
  Row,
  RowLink,
  Section,
  Table,
  TextField,
} from "../../ui";
import { type Complaints, wording } from "../form-errors";

export const USERS_PATH = "/admin/settings/users";

export function userPath(id: string): string {
  return `${USERS_PATH}/${encodeURIComponent(id)}`;
}

/** What each role may do, one sentence each. */
const ROLE_SENTENCES: Record<Role, string> = {
  owner: "everything, users and settings too",
  admin: "pages, monitors, webhooks and API keys as well",
  editor: "write incidents, maintenance and component statuses",
  viewer: "read everything but keys and users",
};

const ROLE_CHOICES = ROLES.map((role) => ({ value: role, label: capitalised(role) }));
const ROLE_HINT = `${ROLES.map((role) => `${capitalised(role)}: ${ROLE_SENTENCES[role]}`).join(". ")}.`;

const COLUMNS = [
  { label: "User" },
  { label: "Role" },
  { label: "Last signed in" },
  { label: "State" },
];

/** Settings → Users. */
export function UserList({ users, now }: { users: readonly UserResource[]; now: number }) {
  return (
    <>
      <PageHead
        title="Users"
        actions={
          <ButtonLink href={`${USERS_PATH}/new`} kind="primary">
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
                <Moment at={user.last_login_at} now={now} />
              ) : (
                <span class="muted">Never</span>
              )}
            </Cell>
            <Cell label="State">{stateOf(user)}</Cell>
          </Row>
        ))}
      </Table>
    </>
  );
}

function stateOf(user: UserResource): string {
  if (user.disabled_at) return "Disabled";
  return user.has_password ? "Active" : "Invited";
}

const LABELS = { email: "Email", name: "Name", role: "Role" };

/** Inviting somebody by a link. */
export function InviteForm(props: {
  values: { email: string; name: string; role: string };
  complaints: Complaints;
  formToken: string;
}) {
  const { values, complaints, formToken } = props;
  const wrong = wording(complaints, LABELS);
  return (
    <>
      <PageHead title="Invite user" crumbs={[{ href: USERS_PATH, label: "Users" }]} />
      <Form action={`${USERS_PATH}/new`} hidden={{ form: formToken }}>
        <FormErrors errors={wrong.all} />
        <TextField
          label="Email"
          name="email"
          type="email"
          value={values.email}
          hint="The name to sign in with. Allclear sends no mail: you hand over the link yourself."
          error={wrong.about("email")}
          autocomplete="off"
          required
        />
        <TextField
          label="Name"
          name="name"
          value={values.name}
          hint="They can change it when they join."
          error={wrong.about("name")}
          autocomplete="off"
          maxlength={255}
          required
        />
        <ChoiceField
          legend="Role"
          name="role"
          options={ROLE_CHOICES}
          value={values.role}
          hint={ROLE_HINT}
          error={wrong.about("role")}
        />
        <Actions>
          <Button kind="primary">Make invitation link</Button>
          <ButtonLink href={USERS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** The one showing of a link that opens once. */
export function RevealedLink(props: { user: UserResource; link: string; lasts: string }) {
  const { user, link, lasts } = props;
  return (
    <>
      <PageHead
        title={user.has_password ? "Copy the link for a new password" : "Copy the invitation link"}
        crumbs={[
          { href: USERS_PATH, label: "Users" },
          { href: userPath(user.id), label: user.name },
        ]}
      />
      <Notice tone="warning" title="It is shown this once">
        Give it to {user.email} by a way that only they read. It works once, for {lasts}; a newer
        link takes its place.
      </Notice>
      <Card title={user.name}>
        <CodeBlock text={link} copyLabel="Copy link" isSecret />
      </Card>
      <Actions>
        <ButtonLink href={USERS_PATH} kind="primary">
          I have copied it
        </ButtonLink>
      </Actions>
    </>
  );
}

/** The same form once more, after its minute. */
export function LinkShownBefore({ userId }: { userId: string }) {
  return (
    <>
      <PageHead title="The link was shown" crumbs={[{ href: USERS_PATH, label: "Users" }]} />
      <p>
        This form was sent before, and its link was shown once. It is not kept. Nothing was changed
        now; if the link was lost, make a new one.
      </p>
      <Actions>
        <ButtonLink href={userPath(userId)} kind="primary">
          Open the user
        </ButtonLink>
      </Actions>
    </>
  );
}

/** One user: the role, a new link, the end. */
export function UserDetail(props: {
  user: UserResource;
  isSelf: boolean;
  /** A sentence. */
  roleComplaint?: string | undefined;
  formToken: string;
  now: number;
}) {
  const { user, isSelf, roleComplaint, formToken, now } = props;
  return (
    <>
      <PageHead
        title={user.name}
        crumbs={[{ href: USERS_PATH, label: "Users" }]}
        actions={
          user.disabled_at ? (
            <form method="post" action={`${userPath(user.id)}/enable`}>
              <Button>Enable user</Button>
            </form>
          ) : (
            <ButtonLink href={`${userPath(user.id)}/disable`} kind="danger" dialog>
              Disable
            </ButtonLink>
          )
        }
      >
        {user.email} · {stateOf(user)}
        {user.last_login_at ? (
          <>
            {" "}
            · last signed in <Moment at={user.last_login_at} now={now} />
          </>
        ) : null}
        {isSelf ? " · this is you" : null}
      </PageHead>
      <Section title="Role">
        <Form action={`${userPath(user.id)}/role`}>
          <ChoiceField
            legend="Role"
            name="role"
            options={ROLE_CHOICES}
            value={user.role}
            hint={ROLE_HINT}
            error={roleComplaint}
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
            ? "A link at which the user chooses a new password. The present one goes on working until then."
            : "A new link takes the place of the one before."}
        </p>
        <Actions>
          <Button>Make a link</Button>
        </Actions>
      </Form>
    </Section>
  );
}

/** Asks before a user is disabled, and names the keys that go on working. */
export function DisableUser(props: {
  user: UserResource;
  keys: readonly { id: string; name: string }[];
}) {
  const { user, keys } = props;
  return (
    <DialogBody title={`Disable “${user.name}”`}>
      <Form action={`${userPath(user.id)}/disable`}>
        <p>
          All of their sessions end at once and they cannot sign in. You can enable them again
          later.
        </p>
        {keys.length > 0 ? (
          <>
            <p>These API keys, which they created, go on working until they are revoked:</p>
            <ul class="plain-list">
              {keys.map((key) => (
                <li key={key.id}>
                  <a href={`/admin/settings/keys/${encodeURIComponent(key.id)}`}>{key.name}</a>
                </li>
              ))}
            </ul>
          </>
        ) : null}
        <Actions>
          <Button kind="danger">Disable user</Button>
          <ButtonLink href={userPath(user.id)} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
