import { Actions, Button, ButtonLink, Form, FormErrors, TextField } from "../../ui";
import { type Complaints, type Wording, wording } from "../form-errors";

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
      <p class="muted">You become the owner: the one who invites everybody else.</p>
      <Form action={action}>
        <FormErrors errors={wrong.all} />
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
            hint="Where people and programs reach this server. Links are built from it."
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
        {isInvitation ? "You were invited as " : "For "}
        {email}.{isInvitation ? "" : " All sessions of this user end."}
      </p>
      <Form action={action}>
        <FormErrors errors={wrong.all} />
        {isInvitation ? (
          <TextField
            label={LABELS.name}
            name="name"
            value={name}
            error={wrong.about("name")}
            autocomplete="name"
            maxlength={255}
            required
          />
        ) : null}
        <NewPassword wrong={wrong} />
        <Actions>
          <Button kind="primary">{isInvitation ? "Join" : "Set password"}</Button>
        </Actions>
      </Form>
    </>
  );
}

function NewPassword({ wrong }: { wrong: Wording }) {
  return (
    <TextField
      label={LABELS.password}
      name="password"
      type="password"
      hint={PASSWORD_HINT}
      error={wrong.about("password")}
      autocomplete="new-password"
      required
    />
  );
}

/** A link that was used, is too old, or was replaced. */
export function DeadLink({ isSetUp }: { isSetUp: boolean }) {
  return (
    <>
      <p>
        It works once and for a limited time.{" "}
        {isSetUp
          ? "While there is no user yet, starting the server again prints a new one."
          : "Ask an owner for a new one."}
      </p>
      <Actions>
        <ButtonLink href="/admin/sign-in">Sign in</ButtonLink>
      </Actions>
    </>
  );
}
