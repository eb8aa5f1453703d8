import type { LiveSession } from "../../features/auth/sessions";
import type { Theme } from "../../http/cookies";
import type { UserResource } from "../../features/users/model";
import { NAME_MAX } from "../../base/texts";
import { toIso } from "../../base/time";
import { Actions, Form } from "../../ui/form";
import { Button, PostButton } from "../../ui/buttons";
import { Cell, Row, Table } from "../../ui/list";
import { Chip, Columns, WithChip } from "../../ui/blocks";
import { DetailCard } from "../../ui/detail";
import { RelativeTime } from "../../ui/times";
import { PageHead } from "../../ui/navigation";
import { describeDevice } from "../../ui/frame/browser";
import { defineForm, type StateOf } from "../../ui/forms/form";
import { checkboxField, FormFields, passwordField, textField } from "../../ui/forms/fields";
import { ACCOUNT_PATH } from "../../ui/frame/paths";
import { ThemeForm } from "./theme";
import { capitalised } from "../../base/text";

const COLUMNS = [
  { label: "Device" },
  { label: "IP address" },
  { label: "Last active" },
  { label: "Signed in" },
  { label: "Actions", isHidden: true },
];

export const NAME_FORM = defineForm<{ name: string }>()({
  name: textField({
    label: "Name",
    hint: "Other users see this name with your changes.",
    autocomplete: "name",
    maxlength: NAME_MAX,
    isRequired: true,
  }),
});

export const PASSWORD_FORM = defineForm<{ current_password: string; new_password: string }>()({
  current_password: passwordField({ label: "Current password", autocomplete: "current-password" }),
  new_password: passwordField({
    label: "New password",
    hint: "At least 12 characters. Saving signs you out on all other devices.",
    autocomplete: "new-password",
  }),
});

export const MAIL_FORM = defineForm<{ key_warnings: boolean }>()({
  key_warnings: checkboxField({
    label: "Warn me before API keys expire",
    hint: "14 and 3 days ahead, about keys that you created, or as an owner about those whose creator cannot sign in. At most one e-mail a day.",
  }),
});

/** Settings → Account: the user's own name, password and sessions. */
export function Account(props: {
  user: UserResource;
  name: StateOf<typeof NAME_FORM>;
  password: StateOf<typeof PASSWORD_FORM>;
  mail: StateOf<typeof MAIL_FORM>;
  theme: Theme;
  sessions: readonly LiveSession[];
  currentSessionId: number;
  now: number;
}) {
  const { user, name, password, mail, theme, sessions, currentSessionId, now } = props;
  return (
    <>
      <PageHead title="Account">
        Signed in as {user.email}. Your role: {capitalised(user.role)}.
      </PageHead>
      <Columns
        isTall
        aside={
          <>
            <DetailCard title="E-mail" liveId="account-mail" isStill>
              <Form action={`${ACCOUNT_PATH}/mail`}>
                <FormFields form={MAIL_FORM} state={mail} />
                <Actions>
                  <Button>Save</Button>
                </Actions>
              </Form>
            </DetailCard>
            <DetailCard title="Theme" liveId="account-theme" isStill>
              <ThemeForm theme={theme} back="account" />
            </DetailCard>
          </>
        }
      >
        <DetailCard title="Profile" liveId="account-name" isStill>
          <Form action={`${ACCOUNT_PATH}/name`} hidden={name.hidden}>
            <FormFields form={NAME_FORM} state={name} />
            <Actions>
              <Button>Save name</Button>
            </Actions>
          </Form>
        </DetailCard>
        <DetailCard title="Password" liveId="account-password" isStill>
          <Form action={`${ACCOUNT_PATH}/password`}>
            <FormFields form={PASSWORD_FORM} state={password} />
            <Actions>
              <Button>Change password</Button>
            </Actions>
          </Form>
        </DetailCard>
      </Columns>
      <DetailCard
        title="Sessions"
        liveId="account-sessions"
        isTable
        end={
          sessions.length > 1 ? (
            <PostButton action={`${ACCOUNT_PATH}/sessions/end-others`} kind="danger">
              End all other sessions
            </PostButton>
          ) : null
        }
      >
        <Table columns={COLUMNS} caption="Your sessions" isInCard>
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              isCurrent={session.id === currentSessionId}
              now={now}
            />
          ))}
        </Table>
      </DetailCard>
    </>
  );
}

function SessionRow(props: { session: LiveSession; isCurrent: boolean; now: number }) {
  const { session, isCurrent, now } = props;
  return (
    <Row>
      <Cell>
        <WithChip chip={isCurrent ? <Chip tone="ok">This browser</Chip> : null}>
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
