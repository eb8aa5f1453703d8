import type { LiveSession } from "../../features/auth";
import type { UserResource } from "../../features/users";
import { toIso } from "../../kernel/time";
import {
  Actions,
  Button,
  Cell,
  Chip,
  Form,
  ErrorSummary,
  RelativeTime,
  PageHead,
  PostButton,
  Row,
  Section,
  Table,
  TextField,
  WithChip,
} from "../../ui";
import { describeDevice } from "../device";
import { type Complaints, wording } from "../field-errors";
import { ACCOUNT_PATH } from "../paths";
import { capitalised } from "../../kernel/text";

const COLUMNS = [
  { label: "Device" },
  { label: "IP address" },
  { label: "Last active" },
  { label: "Signed in" },
  { label: "Actions", isHidden: true },
];

const NAME_LABELS = { name: "Name" };
const PASSWORD_LABELS = { current_password: "Current password", new_password: "New password" };

/** Settings → Account: the user's own name, password and sessions. */
export function Account(props: {
  user: UserResource;
  name: string;
  nameComplaints: Complaints;
  passwordComplaints: Complaints;
  sessions: readonly LiveSession[];
  currentSessionId: number;
  now: number;
}) {
  const { user, name, sessions, currentSessionId, now } = props;
  return (
    <>
      <PageHead title="Account">
        Signed in as {user.email}. Your role: {capitalised(user.role)}.
      </PageHead>
      <NameForm name={name} complaints={props.nameComplaints} />
      <Section title="Password">
        <PasswordForm complaints={props.passwordComplaints} />
      </Section>
      <Section
        title="Sessions"
        actions={
          sessions.length > 1 ? (
            <PostButton action={`${ACCOUNT_PATH}/sessions/end-others`} kind="danger">
              End all other sessions
            </PostButton>
          ) : null
        }
      >
        <Table columns={COLUMNS} caption="Your sessions">
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              isCurrent={session.id === currentSessionId}
              now={now}
            />
          ))}
        </Table>
      </Section>
    </>
  );
}

function NameForm({ name, complaints }: { name: string; complaints: Complaints }) {
  const wrong = wording(complaints, NAME_LABELS);
  return (
    <Form action={`${ACCOUNT_PATH}/name`}>
      <ErrorSummary errors={wrong.all} />
      <TextField
        label={NAME_LABELS.name}
        name="name"
        value={name}
        hint="Shown as the author of your changes."
        error={wrong.about("name")}
        autocomplete="name"
        maxlength={255}
        required
      />
      <Actions>
        <Button>Save name</Button>
      </Actions>
    </Form>
  );
}

function PasswordForm({ complaints }: { complaints: Complaints }) {
  const wrong = wording(complaints, PASSWORD_LABELS);
  return (
    <Form action={`${ACCOUNT_PATH}/password`}>
      <ErrorSummary errors={wrong.all} />
      <TextField
        label={PASSWORD_LABELS.current_password}
        name="current_password"
        type="password"
        error={wrong.about("current_password")}
        autocomplete="current-password"
        required
      />
      <TextField
        label={PASSWORD_LABELS.new_password}
        name="new_password"
        type="password"
        hint="At least 12 characters. You will be signed out everywhere else."
        error={wrong.about("new_password")}
        autocomplete="new-password"
        required
      />
      <Actions>
        <Button>Change password</Button>
      </Actions>
    </Form>
  );
}

function SessionRow(props: { session: LiveSession; isCurrent: boolean; now: number }) {
  const { session, isCurrent, now } = props;
  return (
    <Row>
      <Cell>
        <WithChip chip={isCurrent ? <Chip tone="success">This browser</Chip> : null}>
          {describeDevice(session.userAgent)}
        </WithChip>
      </Cell>
      <Cell label="IP address">{session.ip}</Cell>
      <Cell label="Last active">
        <RelativeTime at={toIso(session.lastSeenAt)} now={now} />
      </Cell>
      <Cell label="Signed in">
        <RelativeTime at={toIso(session.createdAt)} now={now} />
      </Cell>
      <Cell>
        {isCurrent ? null : (
          <PostButton
            action={`${ACCOUNT_PATH}/sessions/end`}
            name="session"
            value={String(session.id)}
          >
            End session
          </PostButton>
        )}
      </Cell>
    </Row>
  );
}
