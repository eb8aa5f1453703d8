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

/** The first user and the public address, by the link that the server printed. */
export function SetUp(props: {
  action: string;
  values: { name: string; email: string; publicAddress: string };
  complaints: Complaints;
  /** Whether the address is given by flag or environment, and so not asked for. */
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
            hint="Where people and programs reach this server. Links use it. If it is wrong and keeps you out, start the server with --base-url."
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

/** Choosing a password, by a link that opens once. */
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

/** What a link is for, as its path says: to set Allclear up, or to choose a password. */
export type Welcome = "setup" | "join";

/** A link that was used, is too old, or was replaced. */
export function DeadLink({ welcome }: { welcome: Welcome }) {
  return (
    <>
      <p>
        It was used, replaced, or has expired.{" "}
        {welcome === "setup"
          ? "If nobody has set up Allclear yet, restart the server: it prints a new link."
          : "Ask an owner for a new one."}
      </p>
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Sign in</ButtonLink>
      </Actions>
    </>
  );
}
