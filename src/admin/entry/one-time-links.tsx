import { SIGN_IN_PATH } from "../../http";
import { Actions, Button, ButtonLink, Form, ErrorSummary, TextField } from "../../ui";
import { type Complaints, type Wording, wording } from "../field-errors";

const LABELS = {
  name: "Your name",
  email: "Email",
  password: "Password",
  public_address: "Public address",
};

const PASSWORD_HINT = "At least 12 characters. A few unrelated words do well.";

/**
 * Set-up form for the first user and the public address, opened by the link that the server
 * printed.
 */
export function SetUp(props: {
  action: string;
  values: { name: string; email: string; publicAddress: string };
  complaints: Complaints;
  /**
   * True if a flag or an environment variable sets the public address, so that the form omits it.
   */
  hasFixedAddress: boolean;
}) {
  const { action, values, complaints, hasFixedAddress } = props;
  const wrong = wording(complaints, LABELS);
  return (
    <>
      <p class="muted">You will be the owner, who invites the other users.</p>
      <Form action={action}>
        <ErrorSummary errors={wrong.all} />
        <TextField
          label={LABELS.name}
          name="name"
          value={values.name}
          error={wrong.about("name")}
          autocomplete="name"
          maxlength={255}
          required
          autofocus
        />
        <TextField
          label={LABELS.email}
          name="email"
          type="email"
          value={values.email}
          error={wrong.about("email")}
          autocomplete="username"
          required
        />
        <NewPassword wrong={wrong} />
        {hasFixedAddress ? null : (
          <TextField
            label={LABELS.public_address}
            name="public_address"
            type="url"
            value={values.publicAddress}
            hint="Where people and programs reach this server. Links use this address. If a wrong address keeps you out, start the server with --base-url."
            error={wrong.about("public_address")}
            autocomplete="off"
            required
          />
        )}
        <Actions>
          <Button kind="primary">Set up</Button>
        </Actions>
      </Form>
    </>
  );
}

/** Form for choosing a password, opened by a one-time link. */
export function Join(props: {
  action: string;
  email: string;
  isInvitation: boolean;
  name: string;
  complaints: Complaints;
}) {
  const { action, email, isInvitation, name, complaints } = props;
  const wrong = wording(complaints, LABELS);
  return (
    <>
      <p class="muted">
        {isInvitation
          ? `You were invited as ${email}.`
          : `New password for ${email}. Saving it signs this user out everywhere.`}
      </p>
      <Form action={action}>
        <ErrorSummary errors={wrong.all} />
        {isInvitation ? (
          <TextField
            label={LABELS.name}
            name="name"
            value={name}
            error={wrong.about("name")}
            autocomplete="name"
            maxlength={255}
            required
            autofocus
          />
        ) : null}
        <NewPassword wrong={wrong} isFirst={!isInvitation} />
        <Actions>
          <Button kind="primary">{isInvitation ? "Join" : "Set password"}</Button>
        </Actions>
      </Form>
    </>
  );
}

function NewPassword({ wrong, isFirst = false }: { wrong: Wording; isFirst?: boolean }) {
  return (
    <TextField
      label={LABELS.password}
      name="password"
      type="password"
      hint={PASSWORD_HINT}
      error={wrong.about("password")}
      autocomplete="new-password"
      required
      autofocus={isFirst}
    />
  );
}

/** Purpose of a one-time link, as in its path: setting up Allclear, or choosing a password. */
export type Welcome = "setup" | "join";

/** Page of a one-time link that was used, has expired, or was replaced. */
export function DeadLink({ welcome }: { welcome: Welcome }) {
  return (
    <>
      <p>
        The link was used, replaced, or has expired.{" "}
        {welcome === "setup"
          ? "If Allclear is not set up yet, restart the server, which prints a new link."
          : "Ask an owner for a new one."}
      </p>
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Sign in</ButtonLink>
      </Actions>
    </>
  );
}
